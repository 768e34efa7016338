"""Sweeps on a cluster of Ray: two nodes of one processor each, of which one is lost."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

import thalweg as tw

ray = pytest.importorskip("ray", reason="Ray is not installed")

COMMAND = shutil.which("ray", path=os.path.dirname(sys.executable))
OVER = {"load": [0.5, 0.7, 0.8], "queue": [20, 1000]}


@pytest.fixture
def cluster(monkeypatch):
    """A head and a second node; the test may end the second one."""
    # A Ray that was started for a call leaves a token in the home of its user, which a head would then ask for.
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    head = [COMMAND, "start", "--head", "--block", "--num-cpus", "1", "--port", str(port), "--include-dashboard", "false"]
    node = [COMMAND, "start", "--block", "--address", f"127.0.0.1:{port}", "--num-cpus", "1"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    nodes = [subprocess.Popen(head, **quiet)]
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.2)
    nodes.append(subprocess.Popen(node, **quiet))
    yield f"ray:127.0.0.1:{port}", nodes[1]
    for process in reversed(nodes):
        end(process)


def end(process):
    """Ends a node with all its processes, by its own group."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


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


def test_a_sweep_survives_the_loss_of_a_worker_and_of_a_node(cluster, tmp_path):
    address, second = cluster
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
    swept = tw.sweep(scenario, over=OVER, seeds=8, out=out, on=address)
    thread.join()
    assert lost[0] == "worker" and lost[1] < 40, "both are lost midway"
    assert (len(swept), swept.digest) == (48, whole.digest)
    assert sorted(path.name for path in out.iterdir()) == sorted(path.name for path in (tmp_path / "local").iterdir())


def test_an_unreachable_cluster_is_one_line(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ConnectionError, match=f"no Ray at {address}: connection refused"):
        tw.sweep("md1", over={"load": [0.5]}, seeds=1, out=tmp_path, on=f"ray:{address}")
    with pytest.raises(ValueError, match="expected HOST:PORT"):
        tw.sweep("md1", over={"load": [0.5]}, seeds=1, out=tmp_path, on="ray://nowhere")
