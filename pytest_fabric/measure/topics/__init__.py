"""What nodes and ports say about themselves, one module per topic; asked for when a test wants it.

A topic has a name, the metrics that `metrics.TOPICS` lists under it, a declaration in `declare`,
and a suite that reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pytest_fabric.config import Cluster, why_missing
from pytest_fabric.measure.plan import Want
from pytest_fabric.measure.topics import (
    collective,
    firmware,
    host,
    infiniband,
    link,
    qos,
    subnet,
    wiring,
)
from pytest_fabric.measure.topics.topic import Topic
from pytest_fabric.results import Port

TOPICS: Mapping[str, Topic] = {
    topic.name: topic
    for topic in (
        host.TOPIC,
        firmware.TOPIC,
        qos.TOPIC,
        link.TOPIC,
        wiring.TOPIC,
        infiniband.TOPIC,
        subnet.TOPIC,
        collective.TOPIC,
    )
}


def asked(wants: Iterable[Want], cluster: Cluster) -> Iterator[tuple[Topic, str]]:
    """Yield the topics that tests want, each with the node that is to be asked.

    Of a topic with a vantage only the first node is; another one when that does not answer.
    """
    begun: set[str] = set()
    for want in wants:
        topic = TOPICS.get(want.declaration.tool)
        if topic is None or why_missing(topic.name, cluster) is not None or topic.name in begun:
            continue
        node = want.target.node if isinstance(want.target, Port) else str(want.target)
        if topic.of(cluster, node):
            begun.update({topic.name} if topic.vantage else ())
            yield topic, node
