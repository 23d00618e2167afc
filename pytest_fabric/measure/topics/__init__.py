"""What nodes and ports say about themselves, one module per topic; asked for when a test wants it.

A topic has a name, the metrics that `metrics.TOPICS` lists under it, a declaration in `declare`,
and a suite that reads it.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fabric.measure.topics import host
from pytest_fabric.measure.topics.topic import Topic

TOPICS: Mapping[str, Topic] = {topic.name: topic for topic in (host.TOPIC,)}
