"""A cluster of Ray on this machine: two nodes of one processor each, which tests and benches start and end."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

COMMAND = shutil.which("ray", path=os.path.dirname(sys.executable))
#: Seconds within which a node listens.
PATIENCE = 60


class Cluster:
    """A head and a second node, each a process group of its own."""

    def __init__(self):
        self.port, self.client_port = _free_ports(2)
        head = ["--head", "--port", str(self.port), "--ray-client-server-port", str(self.client_port)]
        self.nodes = [_start(*head, "--include-dashboard", "false")]
        _wait_for(self.port)
        self.nodes.append(_start("--address", f"127.0.0.1:{self.port}"))

    @property
    def address(self):
        """The address for drivers of this machine."""
        return f"ray:127.0.0.1:{self.port}"

    @property
    def client_address(self):
        """The address for drivers of any machine. Its server listens once the head is complete."""
        _wait_for(self.client_port)
        return f"ray://127.0.0.1:{self.client_port}"

    def end(self):
        """Ends both nodes."""
        for node in reversed(self.nodes):
            _end(node)


@contextlib.contextmanager
def cluster():
    """A cluster, which is ended at the end of the block."""
    # A Ray that was started for a call leaves a token in the home of its user, which a head would then ask for.
    before = os.environ.get("RAY_AUTH_MODE")
    os.environ["RAY_AUTH_MODE"] = "disabled"
    started = Cluster()
    try:
        yield started
    finally:
        started.end()
        if before is None:
            del os.environ["RAY_AUTH_MODE"]
        else:
            os.environ["RAY_AUTH_MODE"] = before


def _free_ports(number):
    """Ports that nothing uses; all are held until each is known."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _start(*options):
    command = [COMMAND, "start", "--block", "--num-cpus", "1", *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def _wait_for(port):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError(f"nothing listens at port {port} after {PATIENCE} s")


def _end(process):
    """Ends a node with all its processes, by its own group."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
