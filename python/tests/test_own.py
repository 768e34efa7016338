"""Laws written in Python run where the lab's own do, and their faults end their own run alone."""

import os
import signal
import threading
import time
import types

import pytest

import laws
import thalweg as tw
from thalweg import _own

SHORT = {"duration_s": 20, "warmup_s": 10}


def without_cpu(table):
    return {name: values for name, values in table.to_dict().items() if name not in ["cpu_s", "scheme"]}


@pytest.mark.parametrize(
    "scenario, parameter, name, law",
    [
        ("dumbbell", "tcp", "newreno", laws.NewReno),
        ("dumbbell", "scheme", "geneva", laws.Geneva),
        # The scenario's TCP is that of ns-3.
        ("geneva-s1", "tcp", "newreno", laws.CountingAcks),
        ("geneva-s1", "scheme", "geneva", laws.Geneva),
    ],
)
def test_laws_written_again_give_exactly_the_same_tables(scenario, parameter, name, law):
    of = tw.scenario(scenario, n_tcp=4)
    short = SHORT if scenario == "dumbbell" else {"duration_s": 8, "warmup_s": 6}
    built_in = of.set(**{parameter: name}, **short).run(seeds=3)
    own = of.set(**{parameter: law}, **short).run(seeds=3)
    assert own.faults == []
    assert without_cpu(own.summary) == without_cpu(built_in.summary)
    assert without_cpu(own.flows) == without_cpu(built_in.flows)
    assert max(own.summary["link_loss"]) > 0, "without losses the test says little"


def test_laws_of_both_kinds_can_be_compared():
    runs = tw.compare("dumbbell", over={"tcp": ["newreno", laws.NewReno, "cubic"]}, seeds=2, **SHORT)
    goodput = dict(zip(zip(runs.summary["scheme"], runs.summary["seed"]), runs.summary["tcp_goodput_mbps"]))
    assert all(goodput["newreno", seed] == goodput["NewReno", seed] != goodput["cubic", seed] for seed in [1, 2])


@pytest.mark.parametrize(
    "law, text",
    [
        (laws.Raises, "ZeroDivisionError: on purpose"),
        (laws.NotANumber, "cwnd is NaN, expected 1 to"),
        (laws.Infinite, "cwnd is inf, expected 1 to"),
        (laws.Half, "cwnd is 0.5, expected 1 to"),
        (laws.Words, "TypeError"),
    ],
)
def test_a_fault_ends_its_run_with_the_flow_and_the_time(law, text):
    with pytest.warns(RuntimeWarning, match="ended by a fault of a law"):
        runs = tw.scenario("dumbbell", tcp=law, **SHORT).run(seeds=1)
    (fault,) = runs.faults
    assert len(runs) == 0 and text in fault["text"] and fault["group"] == "tcp" and 2.0 < fault["t_s"] < 3.0
    assert law is not laws.Raises or "in spoil" in fault["text"], "the traceback names the place"


def test_the_other_runs_go_on_and_random_numbers_are_those_of_the_run():
    def drawn(seeds):
        runs = tw.scenario("dumbbell", tcp=laws.Lucky, n_tcp=2, **SHORT).run(seeds=seeds, interval="5s")
        rows = zip(*(runs.intervals[name] for name in ["seed", "flow", "probe", "value"]))
        return runs, {(seed, flow): value for seed, flow, probe, value in rows if probe == "draw"}

    with pytest.warns(RuntimeWarning):
        runs, first = drawn(range(20))
    assert 0 < len(runs.faults) < 20 and len(runs) + len(runs.faults) == 20
    assert all("no luck" in fault["text"] and fault["t_s"] == 0 for fault in runs.faults)
    assert len(set(first.values())) == len(first) == 2 * len(runs), "every flow of every run draws a number of its own"
    last = max(seed for seed, _ in first)
    assert drawn([last])[1] == {key: value for key, value in first.items() if key[0] == last}


def test_a_law_that_paces_sends_at_its_gap():
    runs = tw.scenario("dumbbell", tcp=laws.Paced, n_tcp=1, scheme="none", **SHORT).run(seeds=1)
    # A segment of 1460 bytes each 4 ms.
    assert runs.summary["tcp_goodput_mbps"] == [pytest.approx(1460 * 8 / 4e-3 / 1e6, rel=0.01)]


def test_a_class_that_lacks_a_part_is_a_type_error_before_anything_runs():
    class NoTimeout:
        cwnd = ssthresh = 2.0
        on_ack = on_loss = on_recovered = lambda *_: None

    class NoWindow(NoTimeout):
        on_timeout = on_report = lambda *_: None

    for law, missing in [(NoTimeout, "on_timeout"), (NoWindow, "repair"), (int, "on_ack, no on_loss")]:
        with pytest.raises(TypeError, match=f"{law.__name__} is no law .* no {missing}"):
            tw.scenario("dumbbell", tcp=law)
    with pytest.raises(ValueError, match="built-in"):
        tw.scenario("dumbbell", tcp=type("cubic", (laws.NewReno,), {}))


def test_ctrl_c_ends_runs_of_a_law_in_python():
    scenario = tw.scenario("dumbbell", tcp=laws.NewReno, duration_s=100)
    began = []

    def interrupt():
        time.sleep(1)
        began.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(tw.Interrupted):
        scenario.run(seeds=200)
    assert time.monotonic() - began[0] < 0.3


def digest(out, law, **more):
    over = {"tcp": ["newreno", law], "n_tcp": [1, 3]}
    return tw.sweep(tw.scenario("dumbbell", **SHORT), over=over, seeds=2, out=out, **more).digest


def test_a_sweep_in_processes_has_the_digest_of_one_process(tmp_path):
    first = digest(tmp_path / "one", laws.NewReno, jobs=1)
    assert digest(tmp_path / "two", laws.NewReno, jobs=2) == first
    columns = tw.load(tmp_path / "two").summary
    goodput = dict(zip(zip(columns["tcp"], columns["n_tcp"], columns["seed"]), columns["tcp_goodput_mbps"]))
    assert len(goodput) == 8
    assert all(value == goodput["newreno", n, seed] for (_, n, seed), value in goodput.items())


def test_faults_of_a_sweep_are_in_its_result_and_are_performed_again(tmp_path):
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="4 runs were ended by a fault of a law, the first: tcp=Raises, n_tcp=[13]"):
            runs = tw.sweep(
                tw.scenario("dumbbell", **SHORT), over={"tcp": ["newreno", laws.Raises], "n_tcp": [1, 3]}, seeds=2, out=tmp_path
            )
        faults = {(fault["scheme"], fault["seed"]) for fault in runs.faults}
        assert faults == {(f"tcp=Raises, n_tcp={n}", seed) for n in [1, 3] for seed in [1, 2]}
        assert all("ZeroDivisionError: on purpose" in fault["text"] and 2.0 < fault["t_s"] < 3.0 for fault in runs.faults)
        assert set(runs.summary["tcp"]) == set(tw.load(tmp_path).summary["tcp"]) == {"newreno"}
    assert tw.load(tmp_path).faults == []


LAW = """
class Law:
    cwnd, ssthresh = 10.0, 100.0
    def on_ack(self, ack): pass
    def on_loss(self, now, flight): self.cwnd = max(part(flight), 2.0)
    def on_recovered(self, now): pass
    def on_timeout(self, now, flight, again): self.cwnd = 1.0
"""


def made(path, text):
    """The class `Law` of a module with this text."""
    module = types.ModuleType("made")
    path.write_text(text)
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module.Law


def test_parts_are_named_by_the_source_of_a_law_and_of_what_it_names(tmp_path):
    def names(law):
        digest(tmp_path / "parts", law, shard="1/1")
        return {path.name for path in (tmp_path / "parts").iterdir()}

    def law(share, file):
        return made(tmp_path / file, f"SHARE = {share}\n\ndef part(flight):\n    return flight * SHARE\n{LAW}")

    first = names(law(0.5, "first.py"))
    assert names(law(0.5, "again.py")) == first, "the same source"
    assert len(names(law(0.7, "other.py")) - first) == 4, "a constant that a function of the law names has changed"
    sourceless = law(0.5, "gone.py")
    (tmp_path / "gone.py").unlink()
    __import__("linecache").clearcache()
    with pytest.raises(ValueError, match='is not known; give the class a version = "'):
        names(sourceless)
    sourceless.version = "1"
    assert len(names(sourceless) - first) == 8, "four of 0.7, and four of this version"
    with pytest.raises(ValueError, match="parts of two versions of the law Law, as [0-9a-f]{32}.jsonl and [0-9a-f]{32}.jsonl"):
        tw.load(tmp_path / "parts")


@pytest.mark.parametrize(
    "text",
    [
        "SHARES = [{share}]\ndef part(flight): return flight * SHARES[0]\n" + LAW,
        "SHARES = {{'a': ({share},)}}\ndef part(flight): return flight * SHARES['a'][0]\n" + LAW,
        "def part(flight, share={share}): return flight * share\n" + LAW,
        "import functools\n@functools.lru_cache\ndef part(flight): return flight * {share}\n" + LAW,
        "def factor():\n    return {share}\nclass Part:\n    def __call__(self, flight): return flight * factor()\n"
        "def part(flight): return Part()(flight)\n" + LAW,
        "def law(share):\n    def part(flight): return flight * share\n"
        + LAW.replace("\n", "\n    ") + "\n    return Law\nLaw = law({share})\n",
    ],
)
def test_all_that_a_law_names_is_in_its_version(tmp_path, text):
    first, again, other = (made(tmp_path / f"{n}.py", text.format(share=share)) for n, share in enumerate([0.5, 0.5, 0.7]))
    assert _own.versions(_own.laws_of([first])) == _own.versions(_own.laws_of([again]))
    assert _own.versions(_own.laws_of([first])) != _own.versions(_own.laws_of([other]))


def test_a_law_that_names_what_has_no_text_needs_a_version(tmp_path):
    law = made(tmp_path / "law.py", "class Part:\n    def __call__(self, x): return x / 2\npart = Part()\n" + LAW)
    with pytest.raises(ValueError, match='the value of part is not known; give the class a version = "'):
        digest(tmp_path / "parts", law)
    law.version = "1"
    assert digest(tmp_path / "parts", law)
