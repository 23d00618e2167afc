"""perftest's output is recognised completely, or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_fabric.errors import NotRecognisedError, ToolError
from pytest_fabric.tools import perftest

DATA = Path(__file__).parents[1] / "data" / "perftest"
CASES = sorted(path.stem for path in DATA.glob("*.txt"))
RULE = "-" * 87
BW = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
LAT = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]"
    "    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] "
)
GOOD_BW = " 65536      5000             392.40             392.20 \t\t   0.748062"
GOOD_LAT = " 4       20000   1.71  14.02  1.78  \t 1.80  \t0.00  \t\t2.06 \t\t3.95   "


def capture(case: str) -> str:
    with (DATA / f"{case}.txt").open(newline="") as stream:
        return stream.read()


def expected(case: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((DATA / f"{case}.json").read_text())
    return document


def table(*lines: str) -> str:
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("case", CASES)
def test_a_capture_gives_its_rows_or_its_error(case: str) -> None:
    want = expected(case)
    if want["error"] == "not_recognised":
        with pytest.raises(NotRecognisedError):
            perftest.records(capture(case))
    elif want["error"]:
        with pytest.raises(ToolError) as caught:
            perftest.records(capture(case))
        assert caught.value.kind == want["error"]
    else:
        assert perftest.records(capture(case)) == want["results"]
    assert perftest.find_version(capture(case)) == want["version"]


@pytest.mark.parametrize(
    "case", [case for case in CASES if expected(case)["results"] and "facts" in expected(case)]
)
def test_a_capture_says_how_it_was_made(case: str) -> None:
    run = perftest.parse(capture(case))

    found = {**vars(run), "warnings": len(run.warnings)}
    facts = expected(case).get("facts", {})
    assert {name: found[name] for name in facts} == facts


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "got nothing", id="empty"),
        pytest.param("\n \r\n\t\n", "got nothing", id="blank"),
        pytest.param("hello\n", "expected the output of perftest", id="prose"),
        pytest.param(GOOD_BW, "expected the output of perftest", id="row without a header"),
        pytest.param(table(RULE, BW, RULE), "result row under the header", id="no row"),
        pytest.param(table(BW, GOOD_BW[:-12]), "5 numbers", id="row cut at a field"),
        pytest.param(table(BW, GOOD_BW[:-1]), "message_rate", id="row cut in its last number"),
        pytest.param(table(BW, GOOD_BW + " 12.50"), "5 numbers", id="one field too many"),
        pytest.param(table(LAT, GOOD_BW), "9 numbers", id="row of another table"),
        pytest.param(table(BW[:-6], GOOD_BW), "known table header", id="header cut"),
        pytest.param(
            table(BW.replace("Gb/sec", "GB/sec"), GOOD_BW), "known table header", id="unknown unit"
        ),
        pytest.param(
            table(LAT.replace("usec", "cycles"), GOOD_LAT), "known table header", id="cycles header"
        ),
        pytest.param(
            table(BW, GOOD_BW, BW.replace("Gb/sec", "MB/sec"), " 8 9 0.00 7.63 1.000000"),
            "different units",
            id="two units",
        ),
        pytest.param(table(LAT, GOOD_LAT, BW, GOOD_BW), "different units", id="two kinds of table"),
        pytest.param(
            table("                    Send Latency Test", BW, GOOD_BW),
            "one test",
            id="other title",
        ),
        pytest.param(
            table("  RDMA_Write BW Test", BW, GOOD_BW, "  RDMA_Read BW Test", BW, GOOD_BW),
            "one test",
            id="two tests",
        ),
        pytest.param(
            table(BW, " 65536 0 0.00 0.00 0.000000"), "iterations above zero", id="no iterations"
        ),
        pytest.param(table(BW, " 0 10 0.00 0.10 1.000000"), "bytes above zero", id="no bytes"),
        pytest.param(table(BW, " 65536 10 0.00 0.00 0.000001"), "above zero", id="no bandwidth"),
        pytest.param(table(BW, " 65536 10 0.00 0.10 0.000000"), "above zero", id="no messages"),
        pytest.param(table(BW, GOOD_BW.replace("392.20", "nan")), "average", id="nan"),
        pytest.param(table(BW, GOOD_BW.replace("392.20", "-392.20")), "average", id="negative"),
        pytest.param(table(BW, GOOD_BW.replace("392.20", "inf")), "average", id="infinite"),
        pytest.param(table(BW, GOOD_BW.replace("392.20", "3.9e2")), "average", id="exponent"),
        pytest.param(table(BW, GOOD_BW.replace("392.20", "392,20")), "average", id="comma"),
        pytest.param(table(BW, GOOD_BW.replace("5000", "5e3")), "iterations", id="count as float"),
        pytest.param(
            table(BW, GOOD_BW.replace("392.20", "٣٩٢.٢٠")), "average", id="digits of another script"
        ),
        pytest.param(
            table(BW, " 65536 5000 392.40 380.00 0.748062"),
            "give the bandwidth",
            id="contradiction",
        ),
        pytest.param(
            table(BW, " 65536 5000 392.40 46754.00 0.748062"), "give the bandwidth", id="wrong unit"
        ),
        pytest.param(
            table(LAT, GOOD_LAT.replace("1.78", "1.70")), "min <= median", id="median below minimum"
        ),
        pytest.param(
            table(LAT, GOOD_LAT.replace("2.06", "1.77")), "median <= p99", id="P99 below median"
        ),
        pytest.param(
            table(LAT, GOOD_LAT.replace("3.95", "2.05")), "p99 <= p999", id="P99.9 below P99"
        ),
        pytest.param(
            table(LAT, GOOD_LAT.replace("14.02", "3.94")), "p999 <= max", id="P99.9 above maximum"
        ),
        pytest.param(
            table(LAT, GOOD_LAT.replace("1.80", "14.03")), "mean <= max", id="mean above maximum"
        ),
        pytest.param(
            table(LAT, GOOD_LAT.replace("1.71", "0.00")), "time above zero", id="zero time"
        ),
        pytest.param(
            table(RULE, LAT, "#, usec", "1, 1.9", "2, 1.91"), "samples only", id="samples cut off"
        ),
    ],
)
def test_what_is_no_whole_result_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(NotRecognisedError, match=re.escape(reason)):
        perftest.parse(text)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(" 1048576 30 0.00 0.25 0.000030", id="slow and large: 1.7 % of rounding"),
        pytest.param(" 8388608 12 0.00 0.13 0.000002", id="the rate has one digit"),
        pytest.param(" 2 20000 0.061200 0.061040 3.815000", id="six decimals below 0.1 Gb/s"),
        pytest.param(" 8 200123456 0.00 0.43 6.670782", id="the bandwidth has two digits"),
    ],
)
def test_rate_and_bandwidth_may_differ_by_what_printing_rounds_off(row: str) -> None:
    assert len(perftest.parse(table(BW, row)).bandwidth) == 1


def test_units_are_taken_from_the_header() -> None:
    mebibytes = table(BW.replace("Gb/sec", "MB/sec"), " 65536 5000 0.00 2700.08 0.043201")

    assert perftest.parse(mebibytes).bandwidth[0].average_bps == 2700.08 * 2**20 * 8
    assert perftest.parse(table(BW, GOOD_BW)).bandwidth[0].average_bps == 392.20e9


def test_a_peak_of_zero_was_not_measured() -> None:
    run = perftest.parse(table(BW, GOOD_BW.replace("392.40", "0.00")))

    assert run.bandwidth[0].peak_bps is None


def test_an_excerpt_of_a_sweep_without_rules_is_read() -> None:
    run = perftest.parse(table(BW, GOOD_BW, GOOD_BW.replace("65536", "65537")))

    assert [row.bytes for row in run.bandwidth] == [65536, 65537]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: text.replace("\n", "\r\n"), id="carriage returns"),
        pytest.param(lambda text: text.replace("\n", "\r\r\n"), id="a terminal log"),
        pytest.param(lambda text: "\ufeff" + text, id="byte order mark"),
        pytest.param(lambda text: re.sub("^", "    ", text, flags=re.M), id="indented"),
        pytest.param(lambda text: re.sub("^", "> ", text, flags=re.M), id="quoted"),
        pytest.param(lambda text: re.sub("^", "> > ", text, flags=re.M), id="quoted twice"),
        pytest.param(
            lambda text: re.sub("^(.*)$", "\x1b[31m\\1\x1b[0m\x1b[K", text, flags=re.M),
            id="colours",
        ),
        pytest.param(
            lambda text: "$ ib_x -d mlx5_0 -c RC 198.51.100.21\n# note\n" + text, id="prompt"
        ),
        pytest.param(
            lambda text: text.replace("\n", "\nmlx5: node7: got completion event\n"), id="library"
        ),
        pytest.param(lambda text: text + "\n$ \n", id="next prompt"),
    ],
)
@pytest.mark.parametrize("case", ["lat-iterations", "bw-mebibytes", "lat-unsorted-samples"])
def test_what_a_capture_went_through_does_not_matter(
    case: str, change: Callable[[str], str]
) -> None:
    assert perftest.records(change(capture(case))) == expected(case)["results"]


@pytest.mark.parametrize(
    "command",
    ["ib_write_lat -C -F", "/opt/x/ib_read_lat -FC", "$ ib_send_lat -a --report-cycles -n 5"],
)
def test_cycles_are_no_time(command: str) -> None:
    with pytest.raises(NotRecognisedError, match="cycles"):
        perftest.parse(table(command, LAT, GOOD_LAT))


def test_a_connection_type_is_not_taken_for_the_cycles_option() -> None:
    assert perftest.parse(table("ib_write_lat -c RC -F", LAT, GOOD_LAT)).latency


@pytest.mark.parametrize(
    ("told", "average"),
    [(None, 390.80e9), ("Gb/sec", 390.80e9), ("MiB/sec", None), ("MB/sec", None)],
)
def test_the_unit_of_a_json_file_is_told_or_shown_by_its_message_rate(
    told: str | None, average: float | None
) -> None:
    text = capture("json-bandwidth-gigabits")

    if average is None:
        with pytest.raises(NotRecognisedError, match="give the bandwidth"):
            perftest.parse(text, json_unit=told)
    else:
        assert perftest.parse(text, json_unit=told).bandwidth[0].average_bps == average


@pytest.mark.parametrize("case", ["json-bandwidth", "json-latency", "json-latency-before-24.01"])
@pytest.mark.parametrize(
    ("find", "put", "reason"),
    [
        (r"(n_iterations\W+)\d+", r"\g<1>1e9999999999", "a number for n_iterations"),
        (r"(n_iterations\W+)\d+", r"\g<1>0", "iterations above zero"),
        (r"(n_iterations\W+)\d+", r"\g<1>true", "a number for n_iterations"),
        (r"(MsgSize\W+\d+),", r"\1, \1,", "JSON"),
        (r"\"?MsgSize\"?: \d+,\n", "", "a whole result"),
        (r"test_info", "info", "JSON"),
    ],
)
def test_a_json_file_that_is_not_whole_is_refused(
    case: str, find: str, put: str, reason: str
) -> None:
    with pytest.raises(NotRecognisedError, match=reason):
        perftest.parse(re.sub(find, put, capture(case)))


def test_json_is_read_in_any_layout() -> None:
    compact = json.dumps(json.loads(capture("json-latency")))

    assert (
        perftest.records("$ cat perftest_out.json\n" + compact)
        == (expected("json-latency")["results"])
    )


def test_the_version_is_found_whatever_stands_around_it() -> None:
    assert perftest.parse_version("Version: 6.29") == "6.29"
    assert perftest.parse_version("welcome\r\nVersion: 5.60\r\n") == "5.60"


@pytest.mark.parametrize("text", ["", "6.29", "perftest Version: 6", "Version: six.two"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(NotRecognisedError, match="Version"):
        perftest.parse_version(text)


def test_a_missing_tool_is_told_when_the_version_is_asked() -> None:
    with pytest.raises(ToolError) as caught:
        perftest.parse_version("bash: ib_write_lat: command not found")

    assert caught.value.kind == "tool_missing"
