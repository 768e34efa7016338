"""Batches of runs, which other processes perform; this process keeps their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _thalweg

#: Seconds that a batch takes: long enough for the cost of its transfer, short enough to be repeated when it is lost.
BATCH = 2.0

#: A run that a law of one's own has ended, as `Runs.faults` has it.
Fault = dict[str, Any]
#: Processor time and file of each run of a batch, and the faults of those that have none.
Done = tuple[list[tuple[float, bytes]], list[Fault]]


def perform(spec: tuple[Any, ...], members: list[int]) -> Done:
    """Performs a batch. `spec` has the arguments of the sweep."""
    given, over, seeds, interval = spec
    return _thalweg.Sweep(_thalweg.Scenario.given(*given), over, seeds, interval=interval).parts(members)


def drive(
    missing: list[tuple[int, float]],
    out: str,
    most: Callable[[], int],
    submit: Callable[[list[int]], Any],
    wait: Callable[[list[Any]], list[tuple[Any, Done]]],
) -> list[Fault]:
    """Submits the missing runs, `most` batches at a time, and keeps their parts as they end. Returns the faults of others.

    With one batch for each worker a worker waits until its parts are kept, so that a kill costs it one batch at most.
    """
    pace = Pace()
    waiting = list(reversed(missing))
    running: dict[Any, float] = {}
    faults: list[Fault] = []
    while waiting or running:
        ahead = most()
        while waiting and len(running) < ahead:
            batch, length = pace.batch(waiting, ahead)
            running[submit(batch)] = length
        for task, (parts, ended) in wait(list(running)):
            pace.learn(running.pop(task), sum(seconds for seconds, _ in parts))
            faults += ended
            for _, part in parts:
                _thalweg.Sweep.keep(out, part)
    return faults


class Pace:
    """The processor time of a simulated second, from the batches so far."""

    def __init__(self) -> None:
        self.simulated = 0.0
        self.seconds = 0.0

    def learn(self, simulated: float, seconds: float) -> None:
        """Takes a batch into account."""
        self.simulated += simulated
        self.seconds += seconds

    def batch(self, waiting: list[tuple[int, float]], parts: int) -> tuple[list[int], float]:
        """Takes runs of about `BATCH` seconds from the end of `waiting`, at most one of as many parts of them; one run before
        anything is known. Returns their indices and their simulated seconds.
        """
        members: list[int] = []
        length = 0.0
        most = max(1, len(waiting) // parts)
        while waiting and len(members) < most:
            member, simulated = waiting.pop()
            members.append(member)
            length += simulated
            if self.seconds == 0.0 or length * self.seconds / self.simulated >= BATCH:
                break
        return members, length
