"""Trip counts of loops and the branches that are taken, once types are known."""

from __future__ import annotations

from predictor.core.text import shortened
from predictor.graph.cleanup import rename_values
from predictor.graph.contractions import arithmetic_of
from predictor.graph.network import Network, Node, Scope
from predictor.graph.operator_graph import OperatorFlag
from predictor.graph.values import ValueTable

# Input of optimum's merged decoders: true for the branch that reads past keys and values, which
# serves a prompt too, after none of them.
_CACHE_SWITCH = "use_cache_branch"
_MAX_TRIPS = 10**7  # exporters write the largest integer for "until the condition fails"


def settle_trips(network: Network, scope: Scope | None, values: ValueTable) -> None:
    """Set the trip counts of a body and of those around it; the values before must be typed.

    Where the file does not state one, the body is counted once, with a note.
    """
    while scope is not None and not scope.settled:
        scope.settled = True
        node = scope.control
        if node.op == "Loop":
            _set_trips(network, scope, _loop_trips(node, values))
        elif node.op == "Scan":
            _set_trips(network, scope, _scan_trips(network, node))
        scope = scope.parent


def _loop_trips(node: Node, values: ValueTable) -> int | None:
    value = values.get(node.inputs[0]) if node.inputs and node.inputs[0] else None
    if value is None or value.size != 1:
        return None
    trips = int(value.reshape(-1)[0])
    return trips if 0 <= trips <= _MAX_TRIPS else None


def _scan_trips(network: Network, node: Node) -> int | None:
    # All scanned inputs of a Scan have one length, so one of them is enough.
    scanned = network.type_of(node.inputs[-1])
    axes = node.attributes.integers("scan_input_axes")
    axis = axes[-1] if axes else 0
    return scanned.dims[axis] if scanned.is_static and scanned.dims else None


def _set_trips(network: Network, scope: Scope, trips: int | None) -> None:
    if trips is not None:
        scope.trips = trips
        return
    scope.trips_stated = False
    network.note(
        f"The file does not state how often {shortened(scope.control.name, 60)} "
        f"({scope.control.op}) runs: "
        "its body is counted once."
    )


def drop_idle_loops(network: Network) -> None:
    """Drop loops of no trip: carried values pass through, stacked outputs stay, empty."""
    alias: dict[str, str] = {}
    for node in network.nodes:
        if node.op in {"Loop", "Scan"} and not node.bodies[0].scope.trips:
            carried = node.inputs[2:] if node.op == "Loop" else node.inputs[: scan_states(node)]
            alias.update(zip(node.outputs, carried, strict=False))
            node.bodies = []
    if not alias and all(node.repeats for node in network.nodes):
        return
    network.nodes = [node for node in network.nodes if node.repeats]
    # Outputs that are left out are all named "".
    alias.pop("", None)
    rename_values(network, alias)


def scan_states(node: Node) -> int:
    """Return the number of a Scan's inputs that are states; the others are scanned."""
    return max(len(node.inputs) - node.attributes.integer("num_scan_inputs"), 0)


def take_branches(network: Network, values: ValueTable) -> None:
    """Keep one branch of each If: the one of a known condition, else the costlier one."""
    alias: dict[str, str] = {}
    choices = [node for node in network.nodes if node.op == "If"]
    for node in choices:  # inner ones stand first
        chosen = _chosen_branch(network, node, values)
        for branch, body in enumerate(node.bodies):
            body.scope.counted = branch == chosen
        alias.update(zip(node.outputs, node.bodies[chosen].outputs, strict=False))
    if not choices:
        return
    network.nodes = [n for n in network.nodes if n.op != "If" and _is_counted(n.scope)]
    alias.pop("", None)
    rename_values(network, alias)


def _chosen_branch(network: Network, node: Node, values: ValueTable) -> int:
    if node.inputs[0] == _CACHE_SWITCH and _CACHE_SWITCH in network.inputs:
        network.note("The decoder is read with its cache, as use_cache_branch is true.")
        return 0
    condition = values.get(node.inputs[0])
    if condition is not None and condition.size == 1:
        return 0 if bool(condition.reshape(-1)[0]) else 1
    costs = [_branch_cost(network, body.scope) for body in node.bodies]
    network.note(
        f"Which branch {shortened(node.name, 60)} takes depends on values: "
        "the costlier one is counted."
    )
    return 0 if costs[0] >= costs[1] else 1


def _branch_cost(network: Network, scope: Scope) -> tuple[int, int]:
    """Return MACs and written bytes of the nodes in a branch."""
    macs = written = 0
    for node in network.nodes:
        if _is_within(node.scope, scope) and _is_counted(node.scope):
            macs += arithmetic_of(network, node).macs * node.repeats
            written += sum(network.type_of(o).bytes for o in node.outputs) * node.repeats
    return macs, written


def _is_within(inner: Scope | None, outer: Scope) -> bool:
    while inner is not None and inner is not outer:
        inner = inner.parent
    return inner is not None


def _is_counted(scope: Scope | None) -> bool:
    while scope is not None:
        if not scope.counted:
            return False
        scope = scope.parent
    return True


def mark_body_nodes(network: Network) -> None:
    """Flag the nodes of a body, and those that run an unknown number of times."""
    for node in network.nodes:
        scope = node.scope
        if scope is not None:
            node.flags |= int(OperatorFlag.SUBGRAPH)
        while scope is not None:
            if not scope.trips_stated:
                node.flags |= int(OperatorFlag.UNKNOWN_TRIPS)
            scope = scope.parent
