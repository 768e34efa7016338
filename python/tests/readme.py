"""The examples of the README, as they are, but for the numbers of seeds and the cluster."""

import pathlib
import re
import sys

README = pathlib.Path(__file__).parent.parent / "README.md"
SHORTER = [("seeds=250", "seeds=1"), ("seeds=20", "seeds=1"), ("range(5)", "range(1)")]


def run(folder):
    """Runs the blocks one after the other, each from a file in `folder`, from which the source of a class is read."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    names = {}
    for number, block in enumerate(blocks):
        for long, short in [*SHORTER, (', on="ray"', ""), ("geneva-s1", "dumbbell")]:
            block = block.replace(long, short)
        path = pathlib.Path(folder) / f"block{number}.py"
        path.write_text(block)
        exec(compile(block, str(path), "exec"), names)
    return len(blocks)


if __name__ == "__main__":
    import thalweg as tw

    print(run(sys.argv[1]), len(tw.load("n-tcp")), tw.__file__)
