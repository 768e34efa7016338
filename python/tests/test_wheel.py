"""The wheel in an empty environment: no Rust, no package index, and no other library."""

import os
import pathlib
import subprocess
import sys

TARGET = pathlib.Path(__file__).parent.parent / "target"
README = pathlib.Path(__file__).parent / "readme.py"


def test_the_wheel_installs_without_rust_and_the_examples_of_the_readme_run(tmp_path):
    (wheel,) = (TARGET / "wheels").glob("thalweg-*.whl")
    # Whatever this machine has, nothing of it is in this PATH.
    environment = dict.fromkeys(["PATH", "HOME", "CARGO_HOME"], str(tmp_path / "nowhere"))
    venv, work = tmp_path / "venv", tmp_path / "work"
    work.mkdir()

    def run(*command):
        return subprocess.run(command, cwd=work, env=environment, check=True, capture_output=True, text=True).stdout

    run(os.path.realpath(sys.executable), "-m", "venv", str(venv))
    python = str(venv / "bin/python")
    run(python, "-m", "pip", "install", "--no-index", str(wheel))
    packages = run(python, "-m", "pip", "list", "--format", "freeze").split()
    assert {package.split("==")[0] for package in packages} <= {"pip", "setuptools", "thalweg", "wheel"}
    blocks, runs, where = run(python, str(README), str(work)).split()
    assert int(blocks) >= 4 and int(runs) > 0 and where.startswith(str(venv))
