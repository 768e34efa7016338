"""Laws as objects: those of `thalweg replay`, event by event."""

import json
import os
import subprocess

import pytest

import thalweg as tw

THALWEG = os.environ.get("THALWEG")
#: Events of a TCP sender: slow start, a loss, recovery, a timeout.
TCP = (
    [{"event": "ack", "rtt": 0.1, "round_end": n % 2 == 1} for n in range(6)]
    + [{"event": "dup3", "flight": 8}, {"event": "recovered"}, {"event": "timeout", "flight": 4}]
    + [{"event": "ack", "rtt": 0.1, "round_end": True}] * 3
)
REPORTS = [{"lost": n % 3 // 2, "delivered": 32, "srtt": 0.02} for n in range(40)]
SERIES = [{"x": x * x % 7 / 7} for x in range(40)]
LOGS = {"newreno": TCP, "geneva": REPORTS, "ewma": SERIES, "rls": SERIES}


@pytest.mark.skipif(not THALWEG, reason="THALWEG names no program")
@pytest.mark.parametrize("law", LOGS)
def test_a_replay_is_that_of_the_command_line(law):
    log = "".join(json.dumps(event) + "\n" for event in LOGS[law])
    lines = subprocess.run([THALWEG, "replay", law], input=log, capture_output=True, text=True, check=True).stdout
    expected = [json.loads(line) for line in lines.splitlines()]
    columns = tw.replay(law, LOGS[law])
    assert columns == {name: [state[name] for state in expected] for name in expected[0]}


def test_newreno_is_that_of_rfc_5681():
    law = tw.Law("newreno", iw=2)
    # Slow start: a segment for each that is acknowledged (RFC 5681, Eq. (2)).
    assert [law.on(event="ack", rtt=0.1, round_end=False)["cwnd"] for _ in range(3)] == [3, 4, 5]
    # Half of the packets in flight (Eq. (4)), in recovery and after it.
    assert law.on(event="dup3", flight=20)["ssthresh"] == 10
    assert law.on(event="recovered")["cwnd"] == 10
    assert law.on(event="timeout", flight=10) == {"cwnd": 1, "ssthresh": 5} == law.state


def test_frames_of_other_libraries_are_logs():
    expected = tw.replay("geneva", REPORTS)
    columns = {name: [report[name] for report in REPORTS] for name in REPORTS[0]}
    assert tw.replay("geneva", columns) == expected
    for library in ["pandas", "polars"]:
        module = pytest.importorskip(library)
        assert tw.replay(tw.Law("geneva"), module.DataFrame(columns)) == expected
    assert tw.replay("geneva", pytest.importorskip("pyarrow").table(columns)) == expected


@pytest.mark.parametrize(
    "wrong, text",
    [
        (lambda: tw.Law("no-such"), "no law 'no-such', expected one of "),
        (lambda: tw.Law("geneva", speed=1), "speed"),
        (lambda: tw.Law("geneva").on(lost=1), "missing field"),
        (lambda: tw.Law("newreno").on(event="ack", rtt=-1, round_end=False), "rtt must be 0 to"),
    ],
)
def test_bad_input_is_a_value_error_of_one_line(wrong, text):
    with pytest.raises(ValueError) as error:
        wrong()
    assert text in str(error.value) and "\n" not in str(error.value)
