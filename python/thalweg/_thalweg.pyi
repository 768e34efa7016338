from typing import Any

VERSION: str

class Interrupted(KeyboardInterrupt):
    """An interrupted campaign."""

    runs: Runs
    """The completed runs."""

class Table:
    """A table, which offers Arrow's C stream. `table["seed"]` is a column as a list."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
    def __len__(self) -> int: ...
    def __getitem__(self, name: str, /) -> list[Any]: ...
    def to_dict(self) -> dict[str, list[Any]]:
        """All columns, by name."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

class Runs:
    """The results of runs. Where a table may be, they are their summary."""

    @property
    def summary(self) -> Table:
        """A row for each run: all quantities."""
    @property
    def flows(self) -> Table:
        """A row for each flow of each run."""
    @property
    def stations(self) -> Table:
        """A row for each station of a Wi-Fi cell, each way."""
    @property
    def intervals(self) -> Table:
        """A row for each reading of an endpoint: `t_s`, `flow`, `group`, `end`, `probe`, `value`."""
    @property
    def hops(self) -> Table:
        """A row for each reading of a queue: `t_s`, `hop`, `way`, `probe`, `value`."""
    @property
    def faults(self) -> list[dict[str, Any]]:
        """The runs that a law of one's own has ended: `scheme`, `seed`, `flow`, `group`, `t_s`, `text`."""
    @property
    def digest(self) -> str | None:
        """A digest of all values of a sweep but the processor times; None of other runs."""
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Law:
    def __new__(cls, name: str, settings: list[tuple[str, str]]) -> Law: ...
    def answer(self, event: bytes) -> bytes: ...

def laws() -> list[tuple[str, str]]: ...

class Scenario:
    def __new__(
        cls, name: str, settings: list[tuple[str, str]], laws: list[tuple[str, type, bool]] = ..., version: dict[str, str] = ...
    ) -> Scenario: ...
    @staticmethod
    def given(
        name: str,
        text: str,
        files: dict[str, str],
        settings: list[tuple[str, str]],
        laws: list[tuple[str, type, bool]] = ...,
        version: dict[str, str] = ...,
    ) -> Scenario: ...
    @property
    def laws(self) -> list[tuple[str, type, bool]]: ...
    @property
    def version(self) -> dict[str, str]: ...
    @property
    def has_own(self) -> bool: ...
    @property
    def files(self) -> dict[str, str]: ...
    @property
    def name(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def parameters(self) -> dict[str, str | float | bool]: ...
    def _run(
        self,
        seeds: list[int],
        *,
        over: tuple[str, list[str]] | None = None,
        interval: str | None = None,
        jobs: int | None = None,
    ) -> Runs: ...

class Sweep:
    def __new__(
        cls, scenario: Scenario, over: list[tuple[str, list[str]]], seeds: list[int], *, interval: str | None = None
    ) -> Sweep: ...
    def __len__(self) -> int: ...
    def run(self, out: str, *, shard: str | None = None, jobs: int | None = None) -> None: ...
    def missing(self, out: str, *, shard: str | None = None) -> list[tuple[int, float]]: ...
    def parts(self, members: list[int]) -> tuple[list[tuple[float, bytes]], list[dict[str, Any]]]: ...
    @staticmethod
    def keep(out: str, part: bytes) -> None: ...
    def kept(self, out: str, faults: list[dict[str, Any]]) -> Runs: ...

def scenarios() -> list[str]: ...
def _load(folder: str) -> Runs: ...

class Rng:
    """The random numbers of a flow, which derive from the seed of its run."""

    def __new__(cls, seed: int) -> Rng: ...
    def random(self) -> float: ...
    def chance(self, p: float) -> bool: ...
    def below(self, n: int) -> int: ...
    def exponential(self, mean: float) -> float: ...
    def normal(self) -> float: ...

class Ack:
    """An acknowledgement, valid during the call that it is given to."""

    now: float
    """The simulated time, in seconds."""
    newly: int
    """The segments that it acknowledges for the first time."""
    flight: int
    """The segments in flight before it."""
    rtt: float | None
    """The round trip that it measures, in seconds."""
    srtt: float | None
    """The smoothed round trip, in seconds."""
    round_end: bool
    """True once in each round trip."""
    window_limited: bool
    """False if the sender had less to send than the window allows."""

class Report:
    """The packets since the last report, repair packets among them."""

    lost: int
    """The packets declared lost."""
    delivered: int
    """The packets reported delivered."""
    srtt: float | None
    """A sample of the round trip, in seconds."""
    at: float
    """The time of the report, in seconds."""
