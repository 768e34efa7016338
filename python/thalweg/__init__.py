"""Thalweg's lab: a deterministic packet simulator for congestion control, repair of losses and video.

    import thalweg as tw

    runs = tw.scenario("dumbbell", rtt_ms=100).run(seeds=range(20), interval="100ms")
    runs.summary, runs.flows, runs.intervals, runs.hops

Tables offer Arrow's C stream: ``pandas.DataFrame.from_arrow``, ``polars.DataFrame``, ``pyarrow.table`` and DuckDB take them as
they are. Names, units and values are those of the files of ``thalweg lab run --out`` (docs/lab.md).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from . import _thalweg
from ._law import Law, laws, replay
from ._thalweg import VERSION, Interrupted, Runs, Table, scenarios
from ._value import Value
from ._value import text as _text

__all__ = [
    "VERSION",
    "Interrupted",
    "Law",
    "Runs",
    "Scenario",
    "Table",
    "compare",
    "laws",
    "load",
    "replay",
    "scenario",
    "scenarios",
    "sweep",
]

def _seeds(seeds: int | Iterable[int]) -> list[int]:
    """Seeds from their number or one by one."""
    return list(range(1, seeds + 1)) if isinstance(seeds, int) else list(seeds)


class Scenario:
    """A scenario of the lab with the values of its parameters. It does not change: `set` makes another."""

    def __init__(self, name: str | os.PathLike[str], /, **parameters: Value) -> None:
        self._name = os.fspath(name)
        self._set = parameters
        self._scenario = _thalweg.Scenario(self._name, [(name, _text(value)) for name, value in parameters.items()])

    @property
    def name(self) -> str:
        """The name."""
        return self._scenario.name

    @property
    def about(self) -> str:
        """The description in its file."""
        return self._scenario.about

    @property
    def text(self) -> str:
        """The text of its file."""
        return self._scenario.text

    @property
    def parameters(self) -> dict[str, str | float | bool]:
        """The values of its parameters, by name."""
        return self._scenario.parameters

    def set(self, **parameters: Value) -> Scenario:
        """The scenario with other values of these parameters."""
        return Scenario(self._name, **{**self._set, **parameters})

    def run(
        self, *, seeds: int | Iterable[int] = 5, interval: str | None = None, jobs: int | None = None
    ) -> Runs:
        """Runs the scenario with each seed, on all processors or `jobs` at a time.

        `seeds` is their number, from 1 on, or the seeds themselves. With an interval such as "100ms", readings of flows and
        hops are kept. Ctrl-C raises `Interrupted`, whose `runs` are those that were completed.
        """
        return self._scenario._run(_seeds(seeds), interval=interval, jobs=jobs)

    def __repr__(self) -> str:
        return repr(self._scenario)


def scenario(name: str | os.PathLike[str], /, **parameters: Value) -> Scenario:
    """The built-in scenario of this name, or that of a file, with these values of its parameters.

    An unknown scenario, an unknown parameter and a value that it cannot have raise ValueError.
    """
    return Scenario(name, **parameters)


def compare(
    name: str | os.PathLike[str],
    /,
    *,
    schemes: Sequence[Value] | None = None,
    over: Mapping[str, Sequence[Value]] | None = None,
    seeds: int | Iterable[int] = 5,
    interval: str | None = None,
    jobs: int | None = None,
    **parameters: Value,
) -> Runs:
    """Runs each of `schemes`, or of the values of one other parameter (`over={"tcp": ["cubic", "newreno"]}`), with the same
    seeds. The column `scheme` of the tables has the value.
    """
    if (schemes is None) == (over is None):
        raise ValueError("compare needs schemes or over")
    varied = {"scheme": schemes} if schemes is not None else dict(over or {})
    if len(varied) != 1:
        raise ValueError("compare varies one parameter; sweep varies several")
    (parameter, values), = varied.items()
    if parameter in parameters:
        raise ValueError(f"{parameter} is varied as well; leave it out")
    of = Scenario(name, **parameters)
    return of._scenario._run(
        _seeds(seeds), over=(parameter, [_text(value) for value in values]), interval=interval, jobs=jobs
    )


def sweep(
    scenario: Scenario | str | os.PathLike[str],
    /,
    *,
    over: Mapping[str, Sequence[Value]],
    seeds: int | Iterable[int] = 5,
    out: str | os.PathLike[str],
    on: str = "local",
    interval: str | None = None,
    shard: str | None = None,
    jobs: int | None = None,
) -> Runs:
    """Runs every combination of values with every seed, each kept in a file of the folder `out` as it ends.

    A run that is there is not performed again. The parts are those of ``thalweg lab sweep``. `on` is "local", with `jobs` runs
    at a time; "ray", a cluster of Ray that this machine is part of, or one of its own; or the address of a cluster, such as
    "ray://host:10001" or "ray:host:6379". `shard`, such as "3/16", performs the third of 16 shares alone. Returns the runs of
    the sweep that are there.
    """
    of = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
    grid = [(name, [_text(value) for value in values]) for name, values in over.items()]
    numbers, folder = _seeds(seeds), os.fspath(out)
    swept = _thalweg.Sweep(of._scenario, grid, numbers, interval=interval)
    if on == "local":
        swept.run(folder, shard=shard, jobs=jobs)
    elif on == "ray" or on.startswith("ray:"):
        from . import _ray

        inner = of._scenario
        given = (inner.name, inner.text, inner.files, [(name, _text(value)) for name, value in of._set.items()])
        _ray.run(swept, (given, grid, numbers, interval), folder, shard, on)
    else:
        raise ValueError(f"on is local, ray, ray://HOST:PORT or ray:HOST:PORT, not {on!r}")
    return swept.kept(folder)


def load(folder: str | os.PathLike[str], /) -> Runs:
    """All runs that sweeps have kept in a folder; the tables have a column for each parameter.

    A damaged part, and parts of two versions of the lab, raise ValueError.
    """
    return _thalweg._load(os.fspath(folder))
