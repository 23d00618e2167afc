"""The link topic: each fact from its tool, and a problem with its remedy where there is none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fabric.errors import MissingValueError
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.topics import FleetResult, TopicResult
from pytest_fabric.measure.topics import link
from pytest_fabric.measure.topics.link_module import NAMES
from pytest_fabric.measure.topics.topic import Subject
from pytest_fabric.metrics import TOPICS
from pytest_fabric.results import Fact, NodeFacts, RdmaPort
from pytest_fabric.tools import allowed
from pytest_fabric.transport import Outcome
from tests.clusters import TEXT

from . import ends
from .ends import outcome

DATA = Path(__file__).parents[2] / "data"
RDMA = replace(ends.RDMA, netdevs=("eth0",), width=8)
NDR = replace(RDMA, link_layer="InfiniBand", netdevs=("ib0",), width=4)
NODE = replace(ends.FACTS, tools={"mlxlink": "/usr/bin/mlxlink"})

CARD = "/sys/class/infiniband/mlx5_0/device"
AER = "".join(
    f"{CARD}{hop}/aer_dev_correctable:BadTLP {bad}\n"
    f"{CARD}{hop}/aer_dev_correctable:TOTAL_ERR_COR {bad}\n"
    f"{CARD}{hop}/aer_dev_nonfatal:TOTAL_ERR_NONFATAL 0\n"
    f"{CARD}{hop}/aer_dev_fatal:TOTAL_ERR_FATAL 1\n"
    for hop, bad in (("", 3), ("/..", 4))
)


def data(name: str) -> str:
    return (DATA / name).read_text()


def failed(text: str, status: int = 1) -> Outcome:
    return outcome("", status, text)


def subject(rdma: RdmaPort = RDMA, node: NodeFacts = NODE, text: str = TEXT) -> Subject:
    return ends.subject(rdma, facts=node, text=text)


#: A node that says everything.
TEXTS = {
    "uptime": "7200.00 1.00\n",
    "window": "",
    "fec-0-0": data("ethtool-fec/statistics.txt"),
    "oldfec-0-0": data("ethtool-fec/rs.txt"),
    "module-0-0": data("ethtool-m/osfp-cmis.txt"),
    "mlxlink-0": data("mlxlink/json-all.txt"),
    "flaps-0": "/sys/class/net/eth0/carrier_down_count:2\n"
    "/sys/class/infiniband/mlx5_0/ports/1/counters/link_downed:7\n",
    "aer-0": AER,
    "lspci-0": "0000:1a:00.0 Ethernet controller: A B\n\tCapabilities: [60] Express\n"
    "\t\tDevCtl:\tCorrErr+\n\t\t\tMaxPayload 256 bytes, MaxReadReq 4096 bytes\n\n",
}


def read(rdma: RdmaPort = RDMA, /, **outcomes: Outcome) -> Mapping[str, Fact]:
    asked = subject(rdma)
    names = {name.replace("-", "_"): name for name in link.sections(asked)}
    answers = {name: outcome(TEXTS[name.removeprefix("later-")]) for name in names.values()}
    answers |= {names[name]: answer for name, answer in outcomes.items()}
    return link.read(asked, answers)["gpu001:rail0"]


def test_every_metric_is_there_for_every_port() -> None:
    nothing = failed("sh: 1: not found", 127)

    for rdma in (RDMA, NDR, replace(RDMA, driver="bnxt_en"), replace(RDMA, pci=None, netdevs=())):
        asked = subject(rdma)
        facts = link.read(asked, dict.fromkeys(link.sections(asked), nothing))["gpu001:rail0"]
        assert facts.keys() == TOPICS["link"].keys()
        silent = {name: fact for name, fact in facts.items() if name != "pcie.numa_node"}
        assert all(fact.value is None and fact.problem for fact in silent.values())
        assert all(len((fact.problem or "").splitlines()) == 1 for fact in silent.values())


def test_the_numa_node_is_known_before_anything_is_asked() -> None:
    assert read()["pcie.numa_node"].value == RDMA.numa_node
    unknown = read(replace(RDMA, numa_node=None))["pcie.numa_node"]
    assert (unknown.value, "see not_available" in str(unknown.problem)) == (None, True)


@pytest.mark.parametrize("rdma", [RDMA, NDR], ids=["Ethernet", "InfiniBand"])
def test_every_command_is_allowed(rdma: RdmaPort) -> None:
    for words in link.sections(subject(rdma)).values():
        allowed.require(words)


def test_root_is_asked_only_where_the_profile_says_so() -> None:
    text = TEXT.replace("    limits:\n", "    sudo: [ethtool, mlxlink]\n    limits:\n", 1)
    commands = link.sections(subject(text=text))

    assert commands["module-0-0"] == ("sudo", "-n", "ethtool", "-m", "eth0")
    assert commands["mlxlink-0"][:4] == ("sudo", "-n", "mlxlink", "-d")
    assert commands["lspci-0"][0] == "lspci"
    assert link.sections(subject())["module-0-0"] == ("ethtool", "-m", "eth0")


def test_mstlink_is_asked_where_there_is_no_mlxlink() -> None:
    node = replace(NODE, tools={"mstlink": "/usr/bin/mstlink"})

    assert link.sections(subject(node=node))["mlxlink-0"][0] == "mstlink"


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("link.fec", "RS"),
        ("link.raw_ber", 1.5e-10),
        ("link.effective_ber", 2e-15),
        ("link.uncorrectable", 0),
        ("link.flaps", 2),
        ("module.vendor", "BIGLIGHT"),
        ("module.part", "OSFP-800"),
        ("module.serial", "BL0001"),
        ("module.temperature", 61.25),
        ("module.temperature_margin", 13.75),
        ("module.rx_power_min", -16.99),
        ("module.tx_power_min", 1.46),
        ("module.lane_spread", 17.4),
        ("pcie.aer_correctable", 3.5),
        ("pcie.aer_uncorrectable", 2),
        ("pcie.max_read_request", 4096),
    ],
)
def test_what_a_port_says(metric: str, value: float | str) -> None:
    assert read()[metric].value == value


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("link.fec", "RS"),
        ("link.uncorrectable", 0),
        ("link.flaps", 7),
        ("module.part", "OSFP-800:A"),
        ("module.temperature", 54),
        ("module.temperature_margin", 21),
    ],
)
def test_infiniband_is_read_by_the_firmwares_tool(metric: str, value: float | str) -> None:
    assert read(NDR)[metric].value == value


DENIED = "netlink error: Operation not permitted"

#: Section, what it says, and of a metric the problem that comes of it.
PROBLEMS = {
    "permission": (
        "module_0_0",
        failed("netlink error: Operation not permitted\n"),
        "module.part",
    ),
    "cage": ("module_0_0", failed("netlink error: Input/output error\n"), "module.part"),
    "cut": ("module_0_0", outcome("\tIdentifier        : 0x19 (OSFP"), "module.temperature"),
    "hostile": ("module_0_0", outcome("\x1b[31m<script>\n"), "module.serial"),
    "late": ("mlxlink_0", outcome("", 124, end="deadline"), "link.raw_ber"),
    "status": ("mlxlink_0", outcome(data("mlxlink/json-error-not-supported.txt")), "link.raw_ber"),
    "tool": ("mlxlink_0", failed("sh: 1: mlxlink: not found\n", 127), "link.effective_ber"),
    "pci": ("lspci_0", outcome(data("lspci/access-denied.txt")), "pcie.max_read_request"),
    "aer": ("aer_0", failed("", 2), "pcie.aer_uncorrectable"),
    "half": ("aer_0", outcome(f"{CARD}/aer_dev_fatal:TOTAL_ERR_FATAL 0\n"), "pcie.aer_correctable"),
    "no total": ("aer_0", outcome(f"{CARD}/aer_dev_fatal:DLP 0\n"), "pcie.aer_correctable"),
    "uptime": ("uptime", outcome("up\n"), "pcie.aer_correctable"),
    "flaps": ("flaps_0", outcome("/sys/class/net/eth0/carrier_down_count:two\n"), "link.flaps"),
}
WORDS = {
    "permission": "sudo",
    "cage": "reseat",
    "cut": "cut-off",
    "late": "did not come to its end",
    "status": "not supported",
    "tool": "install MFT",
    "pci": "lspci needs root",
    "aer": "see not_available",
    "half": "see not_available",
    "no total": "expected a total",
    "uptime": "/proc/uptime",
    "flaps": "carrier_down_count",
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_not_said_is_a_problem_with_its_remedy(name: str) -> None:
    section, answer, metric = PROBLEMS[name]
    blind = {"mlxlink_0": failed("sh: 1: mlxlink: not found\n", 127)} | {section: answer}
    fact = read(**blind)[metric]

    assert fact.value is None
    assert WORDS.get(name, "ethtool") in (fact.problem or "")
    assert (fact.problem or "").isprintable()


def test_the_firmwares_tool_reads_the_module_where_ethtool_cannot() -> None:
    refused = failed("netlink error: Operation not permitted\n")
    facts = read(replace(RDMA, width=4), module_0_0=refused)

    assert facts["module.part"].value == "OSFP-800:A"
    assert facts["module.rx_power_min"].problem == "mlxlink -m cannot read received power of lane 3"


def test_an_old_ethtool_tells_fec_without_statistics() -> None:
    old = failed("ethtool: bad command line argument(s)\n")
    facts = read(fec_0_0=old)

    assert facts["link.fec"].value == "RS"
    assert "bad command line argument" in (facts["link.uncorrectable"].problem or "")


@pytest.mark.parametrize(("now", "lost"), [("3", 3), ("0", 0)])
def test_blocks_that_were_lost_in_the_window_are_told(now: str, lost: int) -> None:
    later = re.sub(r"(uncorrectable_blocks: )[0-9]+", rf"\g<1>{now}", TEXTS["fec-0-0"], count=1)

    assert read(later_fec_0_0=outcome(later))["link.uncorrectable"].value == lost


def test_a_counter_that_was_cleared_in_the_window_is_a_problem() -> None:
    earlier = re.sub(r"(uncorrectable_blocks: )[0-9]+", r"\g<1>9", TEXTS["fec-0-0"], count=1)

    assert "cleared meanwhile" in (
        read(fec_0_0=outcome(earlier))["link.uncorrectable"].problem or ""
    )


def test_a_link_that_is_down_has_no_fec_and_no_bit_errors() -> None:
    facts = read(replace(RDMA, physical_state="Disabled"))

    assert "the link is down" in (facts["link.fec"].problem or "")
    assert "the link is down" in (facts["link.raw_ber"].problem or "")


@pytest.mark.parametrize("name", ["qsfp28-dac", "sfp-dac", "qsfp-dd-dac"])
def test_a_copper_cable_has_no_light_and_that_is_no_fault(name: str) -> None:
    facts = read(module_0_0=outcome(data(f"ethtool-m/{name}.txt")))

    assert facts["module.part"].value
    for metric in NAMES[3:]:
        assert facts[metric].value is None
        assert facts[metric].problem is None
        assert "copper" in (facts[metric].inapplicable or "")


def test_copper_is_copper_to_the_firmwares_tool_too() -> None:
    facts = read(
        NDR, mlxlink_0=outcome(data("mlxlink/text-copper-zeros.txt").partition("\nEYE")[0])
    )

    assert "copper" in (facts["module.rx_power_min"].inapplicable or "")


def test_an_optical_module_without_readings_is_a_problem() -> None:
    text = data("ethtool-m/osfp-cmis.txt")
    dumb = "".join(line for line in text.splitlines(True) if "power (Channel" not in line)

    fact = read(module_0_0=outcome(dumb))["module.rx_power_min"]

    assert fact.inapplicable is None
    assert "shows no received power" in (fact.problem or "")


def test_no_light_is_the_least_that_a_module_can_count() -> None:
    text = data("ethtool-m/osfp-cmis.txt").replace("0.0200 mW / -16.99 dBm", "0.0000 mW / -inf dBm")

    assert read(module_0_0=outcome(text))["module.rx_power_min"].value == -40.0


def test_lanes_of_another_port_are_left_out() -> None:
    """A module of eight lanes serves two ports of four; a dead lane of four is not left out."""
    others = re.compile(r"(Transmit .*\(Channel [5-8]\) +: ).*")
    dark = others.sub(r"\g<1>0.0001 mW / -40.00 dBm", data("ethtool-m/osfp-cmis.txt"))
    port = replace(RDMA, width=4)

    assert read(port, module_0_0=outcome(dark))["module.rx_power_min"].value == 0.41
    dead = dark.replace("1.4100 mW / 1.49 dBm", "0.0000 mW / -inf dBm")
    assert read(port, module_0_0=outcome(dead))["module.tx_power_min"].value == -40.0


def test_members_of_a_bond_are_told_together() -> None:
    asked = subject(replace(RDMA, netdevs=("eth0", "eth1")))
    answers = {name: outcome(TEXTS.get(name, "")) for name in link.sections(asked)}
    answers["fec-0-1"] = outcome(data("ethtool-fec/off.txt"))
    answers["oldfec-0-1"] = answers["fec-0-1"]
    answers["module-0-1"] = outcome(TEXTS["module-0-0"].replace("BL0001", "BL0002"))
    answers["flaps-0"] = outcome(
        "/sys/class/net/eth0/carrier_down_count:2\n/sys/class/net/eth1/carrier_down_count:3\n"
    )
    facts = link.read(asked, answers)["gpu001:rail0"]

    assert facts["link.fec"].value == "RS,Off"
    assert facts["module.serial"].value == "BL0001,BL0002"
    assert facts["link.flaps"].value == 5


def test_a_short_time_shows_no_small_bit_error_rate() -> None:
    """Three errors' worth of bits, 3 / (rate x BER): at 400 Gb/s 1e-12 takes 7.5 seconds."""
    text = TEXTS["mlxlink-0"].replace('"2E-15"', '"15E-255"').replace('"25074.8"', '"0.1"')
    facts = read(mlxlink_0=outcome(text))
    value = TopicResult("gpu001:rail0", "link", facts, Ledger()).effective_ber

    assert value <= 1.3e-12
    with pytest.raises(MissingValueError, match=r"cannot show <= 1e-12: that takes 7\.5 s"):
        _ = value <= 1e-12
    with pytest.raises(MissingValueError, match=r"that takes 2\.08 h without an error"):
        _ = value <= 1e-15


def test_a_rate_that_is_too_high_needs_no_long_time() -> None:
    text = TEXTS["mlxlink-0"].replace('"2E-15"', '"2E-9"').replace('"25074.8"', '"0"')
    value = TopicResult(
        "gpu001:rail0", "link", read(mlxlink_0=outcome(text)), Ledger()
    ).effective_ber

    assert not value <= 1e-12
    with pytest.raises(MissingValueError, match="0 s of counting cannot show <= 1e-06"):
        _ = value <= 1e-6


class Skipped(Exception):
    pass


def skip(reason: str) -> None:
    raise Skipped(reason)


def test_what_does_not_apply_is_skipped_with_its_reason() -> None:
    facts = read(module_0_0=outcome(data("ethtool-m/qsfp-dd-dac.txt")))

    with pytest.raises(Skipped, match=r"gpu001:rail0: module.temperature: .*copper"):
        _ = TopicResult("gpu001:rail0", "link", facts, Ledger(), skip=skip).temperature
    with pytest.raises(MissingValueError, match="copper"):
        _ = TopicResult("gpu001:rail0", "link", facts, Ledger()).temperature
    others = {"a": facts, "b": read()}
    assert FleetResult("link", others, Ledger()).odd("temperature").number == 0
