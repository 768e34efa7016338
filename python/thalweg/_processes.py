"""Sweeps in several processes of this machine, for laws written in Python: each has an interpreter of its own."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from typing import Any

from . import _batches, _thalweg

#: The sweep of this process's children. They are forks, so that they have classes that cannot be sent, as those of a notebook.
_sweep: _thalweg.Sweep | None = None


def _perform(members: list[int]) -> _batches.Done:
    assert _sweep is not None
    return _sweep.parts(members)


def _begin() -> None:
    """Leaves Ctrl-C to the parent, and ends this process when the parent is gone: its runs would be nobody's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def run(sweep: _thalweg.Sweep, out: str, shard: str | None, jobs: int | None) -> list[_batches.Fault]:
    """Performs the runs of a sweep that have no part in `out`, `jobs` at a time. Returns the faults of those that have none."""
    global _sweep
    missing = sweep.missing(out, shard=shard)
    jobs = jobs or len(os.sched_getaffinity(0))
    _sweep = sweep
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), _begin)
    children: list[Any] = []

    def ended(tasks: list[Any]) -> list[tuple[Any, _batches.Done]]:
        children[:] = list((pool._processes or {}).values())
        return [(task, task.result()) for task in wait(tasks, return_when=FIRST_COMPLETED).done]

    try:
        return _batches.drive(missing, out, lambda: jobs, lambda batch: pool.submit(_perform, batch), ended)
    except BaseException:
        # What runs is lost; what is over is kept.
        for child in children:
            child.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        _sweep = None
