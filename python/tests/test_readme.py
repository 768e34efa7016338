"""The examples of the README, as they are, but for the numbers of seeds and the cluster."""

import os
import pathlib
import re

import thalweg as tw

README = pathlib.Path(__file__).parent.parent / "README.md"
SHORTER = [("range(20)", "range(2)"), ("seeds=500", "seeds=1"), ("seeds=20", "seeds=1"), ("range(5)", "range(1)")]


def test_the_examples_of_the_readme_run(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) >= 4
    os.chdir(tmp_path)
    names = {"log": [{"event": "ack", "rtt": 0.1, "round_end": False}]}
    for number, block in enumerate(blocks):
        for long, short in [*SHORTER, (', on="ray"', ""), ("geneva-s1", "dumbbell")]:
            block = block.replace(long, short)
        # The source of a class is read from a file.
        path = tmp_path / f"block{number}.py"
        path.write_text(block)
        exec(compile(block, str(path), "exec"), names)
    assert len(tw.load("grid")) > 0
