"""Sweeps on Ray: tasks perform batches of runs, and the driver keeps their parts."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

from . import _thalweg

#: Seconds that a batch takes: long enough for Ray's own milliseconds, short enough to be repeated after a node is lost.
BATCH = 2.0
#: Seconds within which a cluster answers.
PATIENCE = 10
#: Batches that wait or run, for each processor: one runs, one waits.
AHEAD = 2


def _perform(version: str, spec: tuple[Any, ...], members: list[int]) -> list[tuple[float, bytes]]:
    """Performs a batch, in a worker. `spec` has the arguments of the sweep."""
    from . import _thalweg as here

    if here.VERSION != version:
        raise RuntimeError(f"a worker has version {here.VERSION} of the lab, the driver {version}; install the same on both")
    (name, text, files, settings), over, seeds, interval = spec
    scenario = here.Scenario.given(name, text, files, settings)
    return here.Sweep(scenario, over, seeds, interval=interval).parts(members)


@contextlib.contextmanager
def connected(address: str) -> Iterator[Any]:
    """Ray, connected to the cluster at `address`, which is `ray` for the usual one, or started on this machine."""
    try:
        import ray
    except ImportError as error:
        raise ImportError("sweeps on Ray need it: pip install 'thalweg[ray]'") from error
    if ray.is_initialized():
        yield ray
        return
    if address == "ray":
        ray.init(**QUIET)
    else:
        # `ray://HOST:PORT` is a server for clients, `ray:HOST:PORT` a cluster whose data this machine can share.
        host = address.removeprefix("ray:").removeprefix("//")
        _answers(host)
        if address.startswith("ray://"):
            ray.init(address)
        else:
            ray.init(host, **QUIET)
    try:
        yield ray
    finally:
        ray.shutdown()


#: Nothing of Ray's own on the terminal.
QUIET = {"log_to_driver": False, "logging_level": "error", "include_dashboard": False}


def _answers(address: str) -> None:
    """Raises ConnectionError unless something listens there; Ray itself would wait for much longer."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(f"expected HOST:PORT, found '{address}'")
    try:
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()
    except OSError as error:
        raise ConnectionError(f"no Ray at {address}: {(error.strerror or str(error)).lower()}") from None


def run(sweep: _thalweg.Sweep, spec: tuple[Any, ...], out: str, shard: str | None, address: str) -> None:
    """Performs the runs of a sweep that have no part in `out`."""
    missing = sweep.missing(out, shard=shard)
    if not missing:
        return
    with connected(address) as ray:
        # A worker or a node that is lost takes a batch with it, which is performed elsewhere.
        perform = ray.remote(num_cpus=1, max_retries=-1)(_perform)
        shared = ray.put(spec)
        pace = Pace()
        waiting = list(reversed(missing))
        running: dict[Any, float] = {}
        while waiting or running:
            most = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
            while waiting and len(running) < most:
                batch, length = pace.batch(waiting, most)
                running[perform.remote(_thalweg.VERSION, shared, batch)] = length
            done, _ = ray.wait(list(running), num_returns=1, timeout=1.0)
            for task in done:
                parts = ray.get(task)
                pace.learn(running.pop(task), sum(seconds for seconds, _ in parts))
                for _, part in parts:
                    _thalweg.Sweep.keep(out, part)


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
            if self.simulated == 0.0 or length * self.seconds / self.simulated >= BATCH:
                break
        return members, length
