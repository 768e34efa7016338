"""Runs from Python are those of the command line, and bad input raises what its users expect."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import thalweg as tw

SHORT = {"duration_s": 5, "warmup_s": 4, "n_tcp": 3}
THALWEG = os.environ.get("THALWEG")


def settings(parameters):
    return [text for name, value in parameters.items() for text in ("--set", f"{name}={value}")]


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def rows(table):
    columns = table.to_dict()
    return [dict(zip(columns, values)) for values in zip(*columns.values())]


@pytest.mark.skipif(not THALWEG, reason="THALWEG names no program")
def test_tables_are_the_files_of_lab_run(tmp_path):
    runs = tw.scenario("dumbbell", **SHORT).run(seeds=2, interval="500ms")
    command = [THALWEG, "lab", "run", "dumbbell", "--seeds", "2", "--interval", "500ms", "--out", tmp_path]
    subprocess.run(command + settings(SHORT), check=True, stdout=subprocess.DEVNULL)
    summary = [{name: value for name, value in row.items() if name != "cpu_s"} for row in rows(runs.summary)]
    assert summary == lines(tmp_path / "summary.jsonl")
    assert rows(runs.flows) == lines(tmp_path / "flows.jsonl")
    for table, name in [(runs.intervals, "intervals"), (runs.hops, "hops")]:
        for seed in [1, 2]:
            of_seed = [row for row in rows(table) if row["seed"] == seed]
            expected = lines(tmp_path / f"{name}-geneva-{seed}.jsonl")
            assert of_seed == [{"scheme": "geneva", "seed": seed, **line} for line in expected]
    assert len(runs.intervals) > 100


@pytest.mark.skipif(not THALWEG, reason="THALWEG names no program")
def test_sweeps_share_their_parts_with_the_command_line(tmp_path):
    over = {"load": [0.5, 0.8], "queue": [20, 1000]}
    runs = tw.sweep(tw.scenario("md1", duration_s=5), over=over, seeds=3, out=tmp_path, shard="1/2")
    assert len(runs) == 6
    grid = ["--over", "load=0.5,0.8", "--over", "queue=20,1000", "--set", "duration_s=5", "--seeds", "3"]
    command = [THALWEG, "lab", "sweep", "md1", *grid, "--out", tmp_path, "--json"]
    done = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert (done["before"], done["performed"]) == (6, 6)
    loaded = tw.load(tmp_path)
    assert (len(loaded), loaded.digest) == (12, done["digest"])
    assert {(row["load"], row["queue"], row["seed"]) for row in rows(loaded.summary)} == {
        (load, queue, seed) for load in [0.5, 0.8] for queue in [20, 1000] for seed in [1, 2, 3]
    }


def test_the_number_of_threads_changes_nothing():
    scenario = tw.scenario("dumbbell", **SHORT)
    alone, together = (scenario.run(seeds=[7, 8, 9], interval="1s", jobs=jobs) for jobs in [1, 3])
    without_cpu = [
        [{name: value for name, value in row.items() if name != "cpu_s"} for row in rows(runs.summary)]
        for runs in [alone, together]
    ]
    assert without_cpu[0] == without_cpu[1]
    assert rows(alone.flows) == rows(together.flows)
    assert rows(alone.intervals) == rows(together.intervals)


def test_a_comparison_has_the_same_seeds_for_each_scheme():
    runs = tw.compare("dumbbell", schemes=["geneva", "static8"], seeds=2, **SHORT)
    assert [(row["scheme"], row["seed"]) for row in rows(runs.summary)] == [
        ("geneva", 1), ("geneva", 2), ("static8", 1), ("static8", 2)
    ]
    queues = tw.compare("md1", over={"queue": [20, 1000]}, seeds=1, duration_s=5)
    assert queues.summary["scheme"] == ["20", "1000"]


def test_other_libraries_take_the_tables():
    runs = tw.scenario("dumbbell", **SHORT).run(seeds=2, interval="500ms")
    pyarrow = pytest.importorskip("pyarrow")
    for table in [runs.summary, runs.flows, runs.intervals, runs.hops, runs.stations]:
        assert pyarrow.table(table).to_pylist() == rows(table)
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(runs.intervals)
    queue = frame.filter(polars.col("probe") == "cwnd").group_by("group").agg(polars.col("value").mean())
    assert queue.height > 0
    pandas = pytest.importorskip("pandas")
    # Before pandas 3 by way of pyarrow.
    from_arrow = getattr(pandas.DataFrame, "from_arrow", lambda runs: pyarrow.table(runs.summary).to_pandas())
    assert list(from_arrow(runs)["seed"]) == [1, 2]
    duckdb = pytest.importorskip("duckdb")
    summary = runs.summary
    assert duckdb.sql("select seed from summary order by seed").fetchall() == [(1,), (2,)]


@pytest.mark.parametrize(
    "wrong, text",
    [
        (lambda: tw.scenario("no-such"), "'no-such' is neither a file nor a built-in scenario; expected one of dumbbell"),
        (lambda: tw.scenario("dumbbell", speed=1), "unknown parameter 'speed', expected one of scheme, n_tcp"),
        (lambda: tw.scenario("dumbbell", n_tcp="x"), "n_tcp = 'x', expected a number"),
        (lambda: tw.scenario("dumbbell", scheme="best"), "no scheme 'best'"),
        (lambda: tw.scenario("dumbbell").run(interval="1us"), "an interval must be at least 1ms"),
        (lambda: tw.scenario("dumbbell").run(interval="soon"), "'soon'"),
        (lambda: tw.scenario("dumbbell").run(jobs=0), "jobs = 0, expected at least 1"),
        (lambda: tw.compare("dumbbell"), "schemes or over"),
        (lambda: tw.compare("dumbbell", over={"tcp": "cubic"}), "tcp is varied over a list of values, not over 'cubic'"),
        (lambda: tw.sweep("md1", over={"load": [0.5, 0.5]}, out="/dev/null/x"), "'0.5' is given twice"),
        (lambda: tw.sweep("md1", over={"load": [0.5]}, out="/dev/null/x", shard="3/2"), "expected K/N"),
    ],
)
def test_bad_input_is_a_value_error_of_one_line(wrong, text):
    with pytest.raises(ValueError) as error:
        wrong()
    assert text in str(error.value) and "\n" not in str(error.value)


def test_files_that_cannot_be_used_are_os_errors():
    for wrong in [
        lambda: tw.sweep("md1", over={"load": [0.5]}, out="/dev/null/x"),
        lambda: tw.load("/no/such/folder"),
    ]:
        with pytest.raises(OSError, match="cannot (write|read) "):
            wrong()


def test_a_damaged_part_and_another_version_are_named(tmp_path):
    tw.sweep(tw.scenario("md1", duration_s=5), over={"load": [0.5, 0.8]}, seeds=1, out=tmp_path)
    first, second = sorted(tmp_path.iterdir())
    text = first.read_text()
    first.write_text(text[: len(text) // 2])
    with pytest.raises(ValueError, match=f"{first.name} is damaged"):
        tw.load(tmp_path)


def test_ctrl_c_keeps_the_runs_that_are_over():
    scenario = tw.scenario("md1", duration_s=5)
    began = []

    def interrupt():
        time.sleep(0.5)
        began.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt) as error:
        scenario.run(seeds=100_000)
    assert time.monotonic() - began[0] < 0.3
    assert isinstance(error.value, tw.Interrupted) and 0 < len(error.value.runs) < 100_000


def test_the_interpreter_stays_free():
    scenario = tw.scenario("dumbbell", duration_s=60)
    thread = threading.Thread(target=lambda: scenario.run(seeds=1, jobs=1))
    thread.start()
    turns = 0
    while thread.is_alive():
        turns += 1
        time.sleep(0.001)
    assert turns > 5


def test_a_thousand_runs_leave_no_memory_behind():
    script = """
import resource, thalweg as tw
scenario = tw.scenario("md1", duration_s=2)
scenario.run(seeds=50)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(20):
    scenario.run(seeds=50)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    grown = int(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True).stdout)
    assert grown < 20_000, f"{grown} KiB"
