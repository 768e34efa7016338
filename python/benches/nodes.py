"""Wall seconds of a sweep on this machine, and on two nodes of Ray: nodes.py long|short RUNS TURNS.

Long runs are those of a law written in Python, beside two local processes; short ones those of a law of the lab, beside one.
"""

import json
import statistics
import sys
import tempfile
import time

import ray

import laws
import thalweg as tw
from cluster import cluster

WORK = {
    "long": (tw.scenario("dumbbell", tcp=laws.NewReno, duration_s=300), {"n_tcp": [4]}, 2),
    "short": (tw.scenario("md1", duration_s=300), {"load": [0.8]}, 1),
}
kind, runs, turns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
scenario, over, jobs = WORK[kind]


def timed(seeds, **where):
    with tempfile.TemporaryDirectory() as out:
        begin = time.monotonic()
        swept = tw.sweep(scenario, over=over, seeds=seeds, out=out, **where)
        return time.monotonic() - begin, swept


with cluster() as started:
    # Sweeps use a connection that is there, and workers stay.
    ray.init(started.address.removeprefix("ray:"), log_to_driver=False, logging_level="error")
    timed(4, on=started.address)
    measured = []
    for _ in range(turns):
        local, whole = timed(runs, jobs=jobs)
        on_ray, swept = timed(runs, on=started.address)
        assert (len(swept), swept.digest) == (runs, whole.digest)
        measured.append({"local": local, "ray": on_ray, "ratio": local / on_ray, "run": statistics.mean(whole.summary["cpu_s"])})
        print(json.dumps(measured[-1]), file=sys.stderr, flush=True)
    ray.shutdown()
print(json.dumps({name: statistics.median_high(turn[name] for turn in measured) for name in measured[0]}))
