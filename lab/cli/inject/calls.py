"""`gpulab inject fault` and `remove-socket`."""

from typing import Any

import click

from lab.cli.inject.session import Json, Session, on_nodes

#: The words of the fleet file. The plugin has them too, behind an import that takes its time.
CALLS = (
    "Register",
    "GetDevicePluginOptions",
    "ListAndWatch",
    "Allocate",
    "GetPreferredAllocation",
    "PreStartContainer",
)
ANSWERS = ("empty", "unknown-device", "too-many", "too-few")


@click.command()
@click.argument("call", type=click.Choice(CALLS))
@click.option(
    "--fails", metavar="TEXT", help="It fails with this text; Register, in the kubelet's."
)
@click.option("--code", metavar="CODE", help="With --fails: the gRPC code, by default UNKNOWN.")
@click.option("--delay", metavar="TIME", help="It is answered late, such as 5s or 500ms.")
@click.option("--hang", is_flag=True, help="It is not answered until the rule is cleared.")
@click.option("--answers", type=click.Choice(ANSWERS), help="It is answered wrongly.")
@click.option("--drop", metavar="TIME", help="ListAndWatch ends after this time; 0s: at once.")
@click.option("--resource", help="Only calls about this resource.")
@click.option("--nth", type=click.IntRange(min=1), help="Only the n-th call from now on.")
@click.option("--times", type=click.IntRange(min=1), help="Only as many calls.")
@on_nodes
def fault(  # noqa: PLR0913, PLR0917 - one per option
    call: str,
    fails: str | None,
    code: str | None,
    delay: str | None,
    hang: bool,  # noqa: FBT001 - click's shape
    answers: str | None,
    drop: str | None,
    resource: str | None,
    nth: int | None,
    times: int | None,
    node: tuple[str, ...],
    name: str,
    output: str,
) -> None:
    """Make a rule by which a CALL of the kubelet goes wrong.

    CALL is one of the device plugin API; Register is the plugin's own. Without --nth and --times
    the rule holds for all calls until it is cleared.
    """
    effects = {
        "fails": fails,
        "delay": delay,
        "hang": hang or None,
        "answers": answers,
        "drop": drop,
    }
    effect = {key: value for key, value in effects.items() if value is not None}
    if len(effect) != 1:
        raise click.UsageError("give one of --fails, --delay, --hang, --answers and --drop")
    limits = {"code": code, "resource": resource, "nth": nth, "times": times}
    given = {key: value for key, value in limits.items() if value is not None}
    body: dict[str, Any] = {"call": call, **effect, **given}
    Session(name, node, output).ask(
        lambda api: api.post("/v1/faults", body), lambda result: f"rule {described(result)}"
    )


@click.command("remove-socket")
@click.argument("resource")
@on_nodes
def remove_socket(resource: str, node: tuple[str, ...], name: str, output: str) -> None:
    """Remove the socket of a RESOURCE from under its plugin."""
    Session(name, node, output).ask(
        lambda api: api.post("/v1/sockets/remove", {"resource": resource}),
        lambda result: f"removed the socket of {result['removed']}",
    )


def described(rule: Json) -> str:
    """Return a rule in a line: its ID, the call, what befalls it, and when."""
    about = f" of {rule['resource']}" if rule["resource"] else ""
    return f"{rule['id']}: {rule['call']}{about} {_effect(rule)}, {_turns(rule)}"


def _turns(rule: Json) -> str:
    nth, times = rule["nth"], rule["times"]
    if nth is None:
        return "every time" if times is None else f"the first {times} times"
    return f"call {nth}" if times in {None, 1} else f"calls {nth} to {nth + times - 1}"


def _effect(rule: Json) -> str:
    if "fails" in rule and rule["call"] == "Register":
        return "is refused by the kubelet"
    if "fails" in rule:
        return f"fails: {rule['fails']} ({rule['code']})"
    if "hang" in rule:
        return "hangs"
    texts = {"delay": "is late by", "answers": "is answered wrongly:", "drop": "is dropped after"}
    (key,) = (key for key in texts if key in rule)
    return f"{texts[key]} {rule[key]}"
