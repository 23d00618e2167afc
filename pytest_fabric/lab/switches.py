"""Faults that are switched on and off while the lab runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fabric.errors import ConfigError
from pytest_fabric.lab import faults
from pytest_fabric.lab.fabric import Fabric
from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import Node
from pytest_fabric.lab.server import Server


class Switches:
    """Knows which faults are on, and makes the fabric have them and no others."""

    def __init__(
        self,
        healthy: Sequence[Node],
        fabric: Fabric,
        server: Server,
        on: Sequence[str],
        known: Mapping[str, Fault],
    ) -> None:
        self._healthy = tuple(healthy)
        self._fabric = fabric
        self._server = server
        self._on = list(on)
        self._known = known

    def told(self, line: str) -> Mapping[str, object]:
        """Carry out `fault NAME@TARGET`, `mend NAME@TARGET` or `status`.

        Returns the `faults` that are on, or the `error` that is why not.
        """
        word, _, text = line.strip().partition(" ")
        try:
            self._switch(word, text)
        except ConfigError as error:
            return {"error": error.lines[0]}
        return {"faults": list(self._on)}

    def _switch(self, word: str, text: str) -> None:
        """Raises ConfigError for what cannot be switched, and changes nothing then."""
        if word == "status":
            return
        if word == "fault":
            wanted = [*self._on, *([text] if text not in self._on else [])]
        elif word == "mend" and text in self._on:
            wanted = [one for one in self._on if one != text]
        elif word == "mend":
            on = ", ".join(self._on) or "none"
            raise ConfigError(f"fault {text!r}: expected one that is on ({on})")
        else:
            raise ConfigError(f"lab: expected fault, mend or status, got {word!r}")
        self._fabric.change(faults.inject(self._healthy, wanted, self._known))
        self._on = wanted
        self._server.refresh()
