"""A sweep that is killed at random moments, beside one that is not: killed.py RUNS KILLS."""

import json
import pathlib
import random
import sys
import tempfile

import kills

runs, number = int(sys.argv[1]), int(sys.argv[2])
with tempfile.TemporaryDirectory() as folder:
    whole, killed = pathlib.Path(folder, "whole"), pathlib.Path(folder, "killed")
    whole.mkdir()
    killed.mkdir()
    expected = kills.sweep(whole, runs)
    moments = [random.uniform(0.5, 2.5) for _ in range(number)]
    print("killed after", ", ".join(f"{moment:.2f} s" for moment in moments), file=sys.stderr)
    outcome = kills.sweep(killed, runs, moments)
differs = int(outcome.digest != expected.digest)
print(json.dumps({"differs": differs, "twice": outcome.twice, "most": outcome.most_batches}))
