"""The JSON schema: what editors offer is what the loader accepts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_fabric import metrics
from pytest_fabric.config import cluster_schema
from pytest_fabric.config.models import ProfileKeys
from pytest_fabric.config.written import ClusterFile, ProfileEntry
from pytest_fabric.pairs import STRATEGIES


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(cluster_schema()))
    return found


def test_every_key_is_explained(schema: dict[str, Any]) -> None:
    """Completion shows what a key is for."""
    parts = {"ClusterFile": schema, **schema["$defs"]}
    silent = [
        f"{name}.{key}"
        for name, part in parts.items()
        for key, value in part["properties"].items()
        if not value.get("description")
    ]

    assert not silent


def test_all_keys_of_the_models_are_there(schema: dict[str, Any]) -> None:
    """No key is known to one side only."""
    assert set(schema["properties"]) == set(ClusterFile.model_fields)
    assert set(schema["$defs"]["ProfileEntry"]["properties"]) == set(ProfileEntry.model_fields)
    assert set(ProfileKeys.model_fields) < set(ProfileEntry.model_fields)


def test_strategies_are_those_that_there_are(schema: dict[str, Any]) -> None:
    """What an editor offers for pairs can be chosen."""
    offered = schema["$defs"]["PairKeys"]["properties"]["strategy"]["enum"]

    assert set(offered) == {*STRATEGIES, "list"}


def test_limits_offer_every_metric(schema: dict[str, Any]) -> None:
    """A misspelled metric is red in the editor."""
    limits = schema["$defs"]["ProfileEntry"]["properties"]["limits"]

    assert tuple(limits["properties"]) == metrics.names()
    assert limits["additionalProperties"] is False


def test_a_partial_profile_is_no_error(schema: dict[str, Any]) -> None:
    """A profile that extends another one need not repeat its link layer."""
    assert "required" not in schema["$defs"]["Link"]
    assert "required" not in schema["$defs"]["ProfileEntry"]
