"""What can be done to a node by its plugin: to its devices, its cards and the kubelet's calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

from fake_plugin.faults.fault import Call, Fault
from lab.cluster.plugin.api import PluginApi
from lab.cluster.plugin.cards import CardsAdded, CardsMoved
from lab.cluster.plugin.crash import Crashed
from lab.cluster.plugin.faults import Effect, fault
from lab.cluster.plugin.health import HealthChange, HealthChanged, Reason, Scripted, breakage
from lab.cluster.plugin.journal import MOST, Journal
from lab.cluster.plugin.journal import Call as Recorded
from lab.cluster.plugin.metrics import Sample, samples
from lab.cluster.plugin.overview import Cleared, Facts, Overview
from lab.cluster.plugin.rules import Rule, RuleRemoved, Rules, require_id
from lab.cluster.plugin.sockets import SocketRemoved
from lab.core.exit_codes import KILLED
from lab.core.fleet import wording


@dataclass(frozen=True)
class NodePlugin:
    """The plugin of a node.

    A device is named by its ID, by its card or partition, or by pool and index, as `nvidia/3`.
    Every method raises `UsageError` for what is asked for wrongly, which is `PluginRefused` where
    the plugin says so, and `CheckFailed` where it cannot be asked; nothing has changed then.
    """

    api: PluginApi

    def change_health(self, change: HealthChange) -> HealthChanged:
        """Break devices, mend them, or let them flap, which goes on by itself."""
        return self.api.post("/v1/health", HealthChanged, change.body())

    def break_device(self, *devices: str, **reason: Unpack[Reason]) -> HealthChanged:
        """Break devices, until they are mended; a restart does not mend them."""
        return self.change_health(HealthChange(devices, "unhealthy", breakage(**reason)))

    def mend(self, *devices: str) -> HealthChanged:
        """Mend devices."""
        return self.change_health(HealthChange(devices, "healthy"))

    def flap(
        self, *devices: str, times: int, every: float, **reason: Unpack[Reason]
    ) -> HealthChanged:
        """Break and mend devices in turn, `times` in all, every so many seconds."""
        change = HealthChange(devices, "toggled", breakage(**reason), times, every)
        return self.change_health(change)

    def script(self, steps: Sequence[Mapping[str, object]]) -> Scripted:
        """Have devices break and mend by the clock, from now on: all steps, or none."""
        return self.api.post("/v1/script", Scripted, {"script": [dict(each) for each in steps]})

    def unplug(self, *devices: str) -> CardsMoved:
        """Take the cards of devices out of the node."""
        return self.api.post("/v1/cards", CardsMoved, {"unplug": devices})

    def plug(self, *cards: str) -> CardsMoved:
        """Put cards back that were unplugged."""
        return self.api.post("/v1/cards", CardsMoved, {"plug": cards})

    def add(self, pool: str, count: int) -> CardsAdded:
        """Add cards to a pool, beyond its count."""
        return self.api.post("/v1/cards", CardsAdded, {"add": {"pool": pool, "count": count}})

    def fault(self, call: Call, **effect: Unpack[Effect]) -> Rule:
        """Make a rule by which calls go wrong, as in `fault("Allocate", nth=1, fails="busy")`."""
        return self.add_fault(fault(call, **effect))

    def add_fault(self, rule: Fault) -> Rule:
        """Make a rule by which calls go wrong; it gets an ID of its own."""
        return self.api.post("/v1/faults", Rule, wording.fault(rule))

    def remove_fault(self, rule_id: str) -> RuleRemoved:
        """Remove a rule; the calls that it holds go on."""
        require_id(rule_id)
        return self.api.delete(f"/v1/faults/{rule_id}", RuleRemoved)

    def faults(self) -> tuple[Rule, ...]:
        """Return the rules, in the order in which a call is asked about them."""
        return self.api.get("/v1/faults", Rules).faults

    def remove_socket(self, resource: str) -> SocketRemoved:
        """Remove the socket of a resource from under its plugin."""
        return self.api.post("/v1/sockets/remove", SocketRemoved, {"resource": resource})

    def crash(self, exit_code: int = KILLED) -> Crashed:
        """End the plugin's process where it stands: its sockets stay, and calls break off."""
        return self.api.post("/v1/crash", Crashed, {"exitCode": exit_code})

    def clear(self) -> Cleared:
        """Mend everything, end flaps, remove all rules, and plug as many cards as the fleet says.

        Where the policy is sticky, what was unhealthy is so until the plugin restarts.
        """
        return self.api.post("/v1/clear", Cleared)

    def facts(self) -> Facts:
        """Return what the plugin says of its node: its resources with all their devices."""
        return self.api.get("/v1/node", Facts)

    def overview(self) -> Overview:
        """Return what is broken, missing, added or set to go wrong."""
        return Overview.of(self.facts(), self.faults())

    def metrics(self) -> tuple[Sample, ...]:
        """Return the metrics, of NVIDIA's cards the fields of both lists of its exporter.

        A field of both is as with the exporter's own list, without the label of the driver.
        """
        found = self.api.read("/metrics", samples, {"dcgm": "default"})
        known = {each.name for each in found}
        others = self.api.read("/metrics", samples, {"dcgm": "operator"})
        return (*found, *(each for each in others if each.name not in known))

    def journal(self, since: int = 1) -> Journal:
        """Return the calls between kubelet and plugin from a number on; the last 4096 are kept."""
        return Journal.read(self._journal, since)

    def open_calls(self) -> tuple[Recorded, ...]:
        """Return the calls that have not ended: streams, and calls that a fault holds."""
        return self.api.get("/v1/journal", Journal, {"limit": "1"}).open

    def _journal(self, since: int) -> Journal:
        return self.api.get("/v1/journal", Journal, {"since": str(since), "limit": str(MOST)})
