"""Thalweg's lab: a deterministic packet simulator for congestion control, repair of losses and video.

    import thalweg as tw

    runs = tw.scenario("dumbbell", rtt_ms=100).run(seeds=range(20), interval="100ms")
    runs.summary, runs.flows, runs.intervals, runs.hops

Tables offer Arrow's C stream: ``pandas.DataFrame.from_arrow``, ``polars.DataFrame``, ``pyarrow.table`` and DuckDB take them as
they are. Names, units and values are those of the files of ``thalweg lab run --out`` (docs/lab.md).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _own, _thalweg
from ._law import Law, laws, replay
from ._thalweg import VERSION, Ack, Interrupted, Report, Runs, Table, scenarios
from ._value import Value
from ._value import text as _text
from ._value import texts as _texts

__all__ = [
    "VERSION",
    "Ack",
    "Interrupted",
    "Law",
    "Report",
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


def _jobs(jobs: int | None) -> int | None:
    """A number of runs at a time, if one was given."""
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs = {jobs}, expected at least 1")
    return jobs


class Scenario:
    """A scenario of the lab with the values of its parameters. It does not change: `set` makes another."""

    def __init__(self, name: str | os.PathLike[str], /, **parameters: Value | type) -> None:
        self._name = os.fspath(name)
        self._set = parameters
        self._scenario = self._for({}, swept=False)

    def _texts(self) -> list[tuple[str, str]]:
        """The values of its parameters as texts; a class stands for its name."""
        return [(name, _text(value)) for name, value in self._set.items()]

    def _for(self, over: Mapping[str, Iterable[Value | type]], *, swept: bool) -> _thalweg.Scenario:
        """The scenario with the laws of a grid, and with their version where runs are kept."""
        laws = _own.laws_of([*self._set.values(), *_own.classes_in(over)])
        versions = _own.versions(laws) if swept else {}
        return _thalweg.Scenario(self._name, self._texts(), laws, versions)

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

    def set(self, **parameters: Value | type) -> Scenario:
        """The scenario with other values of these parameters."""
        return Scenario(self._name, **{**self._set, **parameters})

    def run(
        self, *, seeds: int | Iterable[int] = 5, interval: str | None = None, jobs: int | None = None
    ) -> Runs:
        """Runs the scenario with each seed, on all processors or `jobs` at a time; with a law in Python, one after the other.

        `seeds` is their number, from 1 on, or the seeds themselves. With an interval such as "100ms", readings of flows and
        hops are kept. Ctrl-C raises `Interrupted`, whose `runs` are those that were completed.
        """
        return _warned(self._scenario._run(_seeds(seeds), interval=interval, jobs=_jobs(jobs)))

    def __repr__(self) -> str:
        return repr(self._scenario)


def _warned(runs: Runs) -> Runs:
    """Warns of runs that a law of one's own has ended."""
    if runs.faults:
        number = "1 run was" if len(runs.faults) == 1 else f"{len(runs.faults)} runs were"
        of = "{scheme}, seed {seed}, flow {flow} ({group}), {t_s} s: {text}".format(**runs.faults[0])
        warnings.warn(f"{number} ended by a fault of a law, the first: {of}", RuntimeWarning, stacklevel=3)
    return runs


def scenario(name: str | os.PathLike[str], /, **parameters: Value | type) -> Scenario:
    """The built-in scenario of this name, or that of a file, with these values of its parameters.

    A class is a law of one's own, where the name of a law would be (see python/README.md).
    An unknown scenario, an unknown parameter and a value that it cannot have raise ValueError.
    """
    return Scenario(name, **parameters)


def _scenario(of: Scenario | str | os.PathLike[str], parameters: Mapping[str, Value | type]) -> Scenario:
    return of.set(**parameters) if isinstance(of, Scenario) else Scenario(of, **parameters)


def compare(
    scenario: Scenario | str | os.PathLike[str],
    /,
    *,
    schemes: Sequence[Value | type] | None = None,
    over: Mapping[str, Sequence[Value | type]] | None = None,
    seeds: int | Iterable[int] = 5,
    interval: str | None = None,
    jobs: int | None = None,
    **parameters: Value | type,
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
    of = _scenario(scenario, parameters)
    if parameter in of._set:
        raise ValueError(f"{parameter} is varied as well; leave it out")
    given = _texts(parameter, values)
    inner = of._for(varied, swept=False)
    return _warned(inner._run(_seeds(seeds), over=(parameter, given), interval=interval, jobs=_jobs(jobs)))


def sweep(
    scenario: Scenario | str | os.PathLike[str],
    /,
    *,
    over: Mapping[str, Sequence[Value | type]],
    seeds: int | Iterable[int] = 5,
    out: str | os.PathLike[str],
    on: str = "local",
    interval: str | None = None,
    shard: str | None = None,
    jobs: int | None = None,
    **parameters: Value | type,
) -> Runs:
    """Runs every combination of values with every seed, each kept in a file of the folder `out` as it ends.

    A run that is there is not performed again, so that the same call continues after Ctrl-C (KeyboardInterrupt). The files are
    those of ``thalweg lab sweep``. `shard`, such as "3/16", performs the third of 16 shares alone. Returns the runs of the sweep
    that are there. Those that a law of one's own has ended are in `faults` and not in the folder: the same call performs them
    again.

    `on` is "local", with `jobs` runs at a time, in processes of their own if a law is a class; "ray", the cluster of RAY_ADDRESS, or
    a Ray that is started on this machine for the call; or the address of a cluster, "ray:HOST:6379" from one of its machines,
    "ray://HOST:10001" from any other.
    """
    of = _scenario(scenario, parameters)
    grid = [(name, _texts(name, values)) for name, values in over.items()]
    inner = of._for(over, swept=True)
    numbers, folder = _seeds(seeds), os.fspath(out)
    swept = _thalweg.Sweep(inner, grid, numbers, interval=interval)
    faults: list[dict[str, Any]] = []
    if on == "local" and inner.has_own:
        from . import _processes

        faults = _processes.run(swept, folder, shard, _jobs(jobs))
    elif on == "local":
        swept.run(folder, shard=shard, jobs=_jobs(jobs))
    elif on == "ray" or on.startswith("ray:"):
        from . import _ray

        given = (inner.name, inner.text, inner.files, of._texts(), inner.laws, inner.version)
        faults = _ray.run(swept, (given, grid, numbers, interval), folder, shard, on)
    else:
        raise ValueError(f"on is local, ray, ray://HOST:PORT or ray:HOST:PORT, not {on!r}")
    faults.sort(key=lambda fault: (fault["scheme"], fault["seed"]))
    return _warned(swept.kept(folder, faults))


def load(folder: str | os.PathLike[str], /) -> Runs:
    """All runs that sweeps have kept in a folder; the tables have a column for each parameter.

    A damaged part, and parts of two versions of the lab, of a scenario or of a law raise ValueError.
    """
    return _thalweg._load(os.fspath(folder))
