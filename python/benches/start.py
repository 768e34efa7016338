"""Seconds that the import takes, in this fresh process."""

import json
import time

begin = time.perf_counter()
import thalweg  # noqa: E402

print(json.dumps({"import": time.perf_counter() - begin}), flush=True)
assert thalweg.VERSION
