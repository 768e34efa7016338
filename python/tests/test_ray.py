"""Sweeps on a cluster of Ray, of which a worker and a node are lost, and clusters that cannot be used."""

import importlib.util
import os
import signal
import socket
import threading
import time

import pytest

import laws
import thalweg as tw
from thalweg import _thalweg

pytest.importorskip("ray", reason="Ray is not installed")

OVER = {"load": [0.5, 0.7, 0.8], "queue": [20, 1000]}


def one_run(out, on):
    return tw.sweep(tw.scenario("md1", duration_s=5), over={"load": [0.5]}, seeds=1, out=out, on=on)


def test_a_worker_of_another_version_is_refused_by_name(cluster, tmp_path, monkeypatch):
    installed = tw.VERSION
    monkeypatch.setattr(_thalweg, "VERSION", "0.0.9+other")
    with pytest.raises(RuntimeError) as error:
        one_run(tmp_path, cluster.address)
    text = f"a worker has version {installed} of the lab, the driver 0.0.9+other; install the same on both"
    assert (str(error.value), list(tmp_path.iterdir())) == (text, [])


def test_faults_of_a_law_are_in_the_result(cluster, tmp_path):
    scenario = tw.scenario("dumbbell", n_tcp=1, duration_s=5, warmup_s=4)
    with pytest.warns(RuntimeWarning, match="3 runs were ended by a fault of a law"):
        runs = tw.sweep(scenario, over={"tcp": ["cubic", laws.Raises]}, seeds=3, out=tmp_path, on=cluster.address)
    assert len(runs) == 3 and sorted(fault["seed"] for fault in runs.faults) == [1, 2, 3]


def test_a_client_without_its_package_is_one_line(cluster, tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "grpc" else find(name))
    with pytest.raises(ImportError, match=r"^ray://HOST:PORT needs Ray's client: pip install 'ray\[client\]'$"):
        one_run(tmp_path, cluster.client_address)


def test_an_unreachable_cluster_is_one_line(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ConnectionError, match=f"no Ray at {address}: connection refused"):
        one_run(tmp_path, f"ray:{address}")
    with pytest.raises(ValueError, match="expected HOST:PORT"):
        one_run(tmp_path, "ray://nowhere")


def test_a_server_that_is_no_ray_is_one_line_within_ten_seconds(tmp_path):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(ConnectionError, match=f"^no Ray at {address}: timed out$"):
            one_run(tmp_path, f"ray://{address}")
        assert time.monotonic() - began < 10


def worker():
    """The id of a process that performs batches, if there is one."""
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline") as file:
                if name.isdigit() and file.read().startswith("ray::_perform"):
                    return int(name)
        except OSError:
            pass
    return None


# The last one: it ends a node.
def test_a_sweep_survives_the_loss_of_a_worker_and_of_a_node(cluster, tmp_path):
    second = cluster.nodes[1]
    scenario = tw.scenario("md1", duration_s=1200)
    whole = tw.sweep(scenario, over=OVER, seeds=8, out=tmp_path / "local")
    out = tmp_path / "ray"
    lost = []

    def lose():
        until = time.monotonic() + 120
        while time.monotonic() < until and not (out.exists() and len(list(out.glob("*.jsonl"))) > 3):
            time.sleep(0.05)
        # Between two batches a worker has another name.
        while (found := worker()) is None and time.monotonic() < until:
            time.sleep(0.01)
        if found is not None:
            os.kill(found, signal.SIGKILL)
            lost.append("worker")
        time.sleep(0.5)
        lost.append(len(list(out.glob("*.jsonl"))))
        os.killpg(second.pid, signal.SIGKILL)

    thread = threading.Thread(target=lose)
    thread.start()
    swept = tw.sweep(scenario, over=OVER, seeds=8, out=out, on=cluster.address)
    thread.join()
    assert lost[0] == "worker" and lost[1] < 40, "both are lost midway"
    assert (len(swept), swept.digest) == (48, whole.digest)
    assert sorted(path.name for path in out.iterdir()) == sorted(path.name for path in (tmp_path / "local").iterdir())
