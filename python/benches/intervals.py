"""CPU seconds of a run without readings, of one with them, and of a frame of these: intervals.py TURNS."""

import json
import statistics
import sys
import time

import polars

import thalweg as tw

SCENARIO = tw.scenario("dumbbell")


def timed(work):
    begin = time.process_time()
    done = work()
    return time.process_time() - begin, done


def turn():
    plain, _ = timed(lambda: SCENARIO.run(seeds=1, jobs=1))
    recorded, runs = timed(lambda: SCENARIO.run(seeds=1, jobs=1, interval="100ms"))
    frame, table = timed(lambda: polars.DataFrame(runs.intervals))
    lists, _ = timed(runs.intervals.to_dict)
    return {"plain": plain, "recorded": recorded, "frame": frame, "lists": lists, "values": table.height}


turn()
turns = [turn() for _ in range(int(sys.argv[1]))]
typical = {name: statistics.median_high(turn[name] for turn in turns) for name in turns[0]}
beyond = statistics.median_high((turn["recorded"] + turn["frame"]) / turn["plain"] - 1 for turn in turns)
print(json.dumps({**typical, "beyond": beyond}))
