"""Sweeps on Ray: tasks perform batches of runs, and the driver keeps their parts."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import socket
import sys
from collections.abc import Iterator
from typing import Any

from . import _batches, _thalweg

#: Seconds within which a cluster answers.
PATIENCE = 10


def _perform(version: str, spec: tuple[Any, ...], members: list[int]) -> _batches.Done:
    """Performs a batch, in a worker."""
    if _thalweg.VERSION != version:
        why = f"a worker has version {_thalweg.VERSION} of the lab, the driver {version}; install the same on both"
        raise RuntimeError(why)
    return _batches.perform(spec, members)


@contextlib.contextmanager
def connected(address: str) -> Iterator[Any]:
    """Ray, connected to the cluster at `address`. `ray` is that of RAY_ADDRESS, or else one that is started on this machine."""
    try:
        import ray
    except ImportError as error:
        raise ImportError("sweeps on Ray need it: pip install 'thalweg[ray]'") from error
    if ray.is_initialized():
        yield ray
        return
    if address == "ray" and "RAY_ADDRESS" not in os.environ:
        # Not the cluster that was last started here, which may be gone.
        ray.init("local", **QUIET)
    else:
        # `ray://HOST:PORT` is a server for clients, `ray:HOST:PORT` a cluster whose data this machine can share.
        address = os.environ["RAY_ADDRESS"] if address == "ray" else address
        host = address.removeprefix("ray:").removeprefix("//")
        _answers(host)
        if address.startswith("ray://"):
            if importlib.util.find_spec("grpc") is None:
                raise ImportError("ray://HOST:PORT needs Ray's client: pip install 'ray[client]'")
            ray.init(address)
        else:
            ray.init(host, **QUIET)
    try:
        yield ray
    finally:
        ray.shutdown()


#: An empty frame of settings, with which both ends of HTTP/2 begin (RFC 9113, 3.4), and the client's first bytes.
SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + SETTINGS
#: Nothing of Ray's own on the terminal.
QUIET = {"log_to_driver": False, "logging_level": "error", "include_dashboard": False}


def _answers(address: str) -> None:
    """Raises ConnectionError unless a server of gRPC listens there; Ray itself would wait for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(f"expected HOST:PORT, found '{address}'")
    try:
        with socket.create_connection((host, int(port)), timeout=PATIENCE / 2) as server:
            # Under TLS only Ray itself can ask.
            if "RAY_USE_TLS" in os.environ:
                return
            server.sendall(PREFACE)
            answer = server.recv(len(SETTINGS))
    except OSError as error:
        raise ConnectionError(f"no Ray at {address}: {(error.strerror or str(error)).lower()}") from None
    if answer[3:4] != SETTINGS[3:4]:
        raise ConnectionError(f"no Ray at {address}: another server answers there")


@contextlib.contextmanager
def _by_value(ray: Any, spec: tuple[Any, ...]) -> Iterator[None]:
    """Sends laws with the code of their modules, which a worker may not have."""
    laws = spec[0][4]
    modules = {sys.modules[law.__module__] for _, law, _ in laws}
    for module in modules:
        ray.cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in modules:
            ray.cloudpickle.unregister_pickle_by_value(module)


def run(sweep: _thalweg.Sweep, spec: tuple[Any, ...], out: str, shard: str | None, address: str) -> list[_batches.Fault]:
    """Performs the runs of a sweep that have no part in `out`; `spec` has its arguments. Returns the faults of those that have none."""
    missing = sweep.missing(out, shard=shard)
    if not missing:
        return []
    with connected(address) as ray:
        # A worker or a node that is lost takes a batch with it, which is performed elsewhere.
        perform = ray.remote(num_cpus=1, max_retries=-1)(_perform)
        with _by_value(ray, spec):
            shared = ray.put(spec)

        def ended(tasks: list[Any]) -> list[tuple[Any, _batches.Done]]:
            try:
                return [(task, ray.get(task)) for task in ray.wait(tasks, num_returns=1, timeout=1.0)[0]]
            except ray.exceptions.RayTaskError as error:
                # Its own text has Ray's traceback of the worker.
                raise error.cause from None

        return _batches.drive(
            missing,
            out,
            lambda: max(1, int(ray.cluster_resources().get("CPU", 1))),
            lambda batch: perform.remote(_thalweg.VERSION, shared, batch),
            ended,
        )
