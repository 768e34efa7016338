"""A sweep that is killed and started again, and the runs that it performs twice."""

import collections
import dataclasses
import json
import os
import signal
import subprocess
import sys
import time

#: Processes of the sweep.
JOBS = 2
#: Performs the sweep, and writes each batch, with the process that performs it, as it begins.
SCRIPT = """
import json, os, sys
import laws, thalweg as tw
from thalweg import _processes

log, out, seeds = sys.argv[1:]
inner = _processes._perform

def perform(members):
    with open(log, "a") as file:
        file.write(json.dumps([os.getpid(), members]) + "\\n")
    return inner(members)

_processes._perform = perform
scenario = tw.scenario("dumbbell", tcp=laws.NewReno, n_tcp=1, scheme="none", duration_s=40, warmup_s=10)
print(tw.sweep(scenario, over={"rtt_ms": [40]}, seeds=int(seeds), out=out, jobs=%d).digest)
""" % JOBS


@dataclasses.dataclass
class Outcome:
    """The digest of the whole sweep, the runs begun more than once, and the most batches that a worker lost to a kill."""

    digest: str
    twice: int
    most_batches: int


def sweep(folder, seeds, moments=()):
    """Performs a sweep with so many seeds, killed at these moments, in seconds from its start."""
    attempts = []
    for number, moment in enumerate([*moments, None]):
        log = folder / f"batches-{number}"
        log.touch()
        digest = _attempt([str(log), str(folder / "parts"), str(seeds)], moment)
        attempts.append([json.loads(line) for line in log.read_text().splitlines()])
    return Outcome(digest, *_repeated(attempts))


def _attempt(arguments, moment):
    """Starts the sweep, and kills it at `moment`, or returns its digest."""
    command = [sys.executable, "-c", SCRIPT, *arguments]
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(__file__)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    if moment is None:
        digest = process.communicate()[0].strip()
        assert process.returncode == 0, "the last attempt ends by itself"
        return digest
    time.sleep(moment)
    process.send_signal(signal.SIGKILL)
    # Its processes have the other end of the pipe, and must end as well.
    process.communicate(timeout=20)
    assert process.returncode == -signal.SIGKILL, "it is killed midway"
    return None


def _repeated(attempts):
    """The runs begun more than once, and the most batches of one worker in one attempt whose runs were begun again."""
    begun = collections.Counter(run for batches in attempts for _, batch in batches for run in batch)
    most = 0
    for number, batches in enumerate(attempts):
        later = {run for others in attempts[number + 1 :] for _, batch in others for run in batch}
        lost = collections.Counter(worker for worker, batch in batches if later.intersection(batch))
        most = max([most, *lost.values()])
    return sum(times - 1 for times in begun.values()), most
