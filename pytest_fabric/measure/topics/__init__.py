"""What nodes and ports say about themselves, one module per topic; asked for when a test wants it.

A topic has a name, the metrics that `metrics.TOPICS` lists under it, a declaration in `declare`,
and a suite that reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pytest_fabric.measure.plan import Want
from pytest_fabric.measure.topics import host, link
from pytest_fabric.measure.topics.topic import Topic
from pytest_fabric.results import Port

TOPICS: Mapping[str, Topic] = {topic.name: topic for topic in (host.TOPIC, link.TOPIC)}


def asked(wants: Iterable[Want]) -> Iterator[tuple[Topic, str]]:
    """Yield the topics that tests want, each with the node that is to be asked."""
    for want in wants:
        topic = TOPICS.get(want.declaration.tool)
        if topic is not None:
            yield topic, want.target.node if isinstance(want.target, Port) else str(want.target)
