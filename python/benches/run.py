"""One run of a scenario with seed 1: run.py SCENARIO NAME=VALUE... A value can name a law of python/tests/laws.py."""

import json
import sys

import laws
import thalweg as tw

scenario, *settings = sys.argv[1:]
values = dict(setting.split("=") for setting in settings)
runs = tw.scenario(scenario, **{name: getattr(laws, value, value) for name, value in values.items()}).run(seeds=1)
print(json.dumps({"packets": runs.summary["packets"][0], "goodput_mbps": runs.summary["tcp_goodput_mbps"][0]}))
