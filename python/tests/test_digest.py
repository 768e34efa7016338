"""One digest of a sweep, over all columns but `cpu_s`, whoever performs it."""

import json
import os
import subprocess

import pytest

import thalweg as tw

OVER = {"load": [0.5, 0.8], "queue": [20, 1000]}
THALWEG = os.environ.get("THALWEG")


def sweep(out, **more):
    return tw.sweep(tw.scenario("md1", duration_s=5), over=OVER, seeds=3, out=out, interval="1s", **more)


def of_command(out, *more):
    grid = [f"--over={name}={','.join(map(str, values))}" for name, values in OVER.items()]
    command = [THALWEG, "lab", "sweep", "md1", *grid, "--set", "duration_s=5", "--seeds", "3", "--interval", "1s", "--out", out, "--json"]
    return json.loads(subprocess.run([*command, *more], check=True, capture_output=True).stdout)


def rows(folder):
    """All tables that are loaded, without the processor times."""
    loaded = tw.load(folder)
    tables = [loaded.summary, loaded.flows, loaded.intervals, loaded.hops]
    return [{name: values for name, values in table.to_dict().items() if name != "cpu_s"} for table in tables]


@pytest.mark.skipif(not THALWEG, reason="THALWEG names no program")
def test_the_digest_is_that_of_the_command_line_of_threads_and_of_shards(tmp_path):
    command = of_command(tmp_path / "command")["digest"]
    digests = {jobs: sweep(tmp_path / f"threads-{jobs}", jobs=jobs).digest for jobs in [1, 2]}
    for shard in [4, 3, 2, 1]:
        # By turns from Python and by the command line, into one folder.
        perform = sweep if shard % 2 else lambda out, shard: of_command(out, "--shard", shard)
        perform(tmp_path / "shards", shard=f"{shard}/4")
    assert {*digests.values(), tw.load(tmp_path / "shards").digest} == {command}
    tables = rows(tmp_path / "command")
    assert len(tables[0]["seed"]) == 12
    assert all(rows(tmp_path / name) == tables for name in ["threads-1", "threads-2", "shards"])


def test_the_digest_is_that_of_two_nodes_of_ray(cluster, tmp_path):
    assert sweep(tmp_path / "ray", on=cluster.address).digest == sweep(tmp_path / "local").digest
    # From another machine, through the server of clients.
    assert sweep(tmp_path / "client", on=cluster.client_address).digest == tw.load(tmp_path / "local").digest
    assert rows(tmp_path / "ray") == rows(tmp_path / "client") == rows(tmp_path / "local")
