"""A `docker` whose engine is a JSON file, named by FAKE_ENGINE. Run as a program, without packages.

The file holds `containers` and `images` as `docker inspect` prints them, the answer of `info`, and
what goes wrong: `away` is printed instead of any answer, `stubborn` when containers are to be
removed, `late` are containers that appear after as many listings. `calls` keeps what was asked,
`without_kubelet` the nodes whose kubelet was stopped.
"""

import fcntl
import hashlib
import json
import os
import sys
from typing import Any

State = dict[str, Any]


def main(arguments: list[str]) -> int:
    """Do one command on the file and return the exit code."""
    with open(os.environ["FAKE_ENGINE"], "r+", encoding="utf-8") as file:  # noqa: PTH123 - quick to start
        fcntl.flock(file, fcntl.LOCK_EX)
        state = json.load(file)
        state["calls"].append(" ".join(arguments))
        code = (
            _refuse(state["away"]) if state["away"] else _COMMANDS[arguments[0]](state, arguments)
        )
        file.seek(0)
        json.dump(state, file)
        file.truncate()
    return code


def _info(state: State, _: list[str]) -> int:
    sys.stdout.write(json.dumps(state["info"]))
    return 0


def _ps(state: State, arguments: list[str]) -> int:
    label, _, value = arguments[-1].removeprefix("label=").partition("=")
    for each in state["containers"]:
        if each["Config"]["Labels"].get(label) == value:
            sys.stdout.write(f"{each['Id']}\n")
    if state["late"]:
        state["containers"] += state["late"].pop(0)
    return 0


def _inspect(state: State, arguments: list[str]) -> int:
    kind, _, name = arguments
    if kind == "image":
        found = [state["images"][name]] if name in state["images"] else []
    else:
        found = [each for each in state["containers"] if name in _names(each)]
    sys.stdout.write(json.dumps(found))
    return 0 if found else _refuse(f"Error response from daemon: No such {kind}: {name}")


def _remove(state: State, arguments: list[str]) -> int:
    if state["stubborn"]:
        return _refuse(state["stubborn"])
    names = set(arguments[3:])
    state["containers"] = [each for each in state["containers"] if not names & _names(each)]
    return 0


def _start(state: State, arguments: list[str]) -> int:
    """Start containers, or start them anew."""
    for each in state["containers"]:
        if _names(each) & set(arguments[1:]):
            each["State"]["Running"] = True
    return 0


def _execute(state: State, arguments: list[str]) -> int:
    """Answer for a node's runtime; keep what was sent into the node as its checksum."""
    interactive = arguments[1] == "-i"
    node, *command = arguments[2 if interactive else 1 :]
    if not any(node in _names(each) for each in state["containers"]):
        return _refuse(f"Error: No such container: {node}")
    if interactive and node in state["broken"]:
        return _refuse(f"ctr: {node} has no space left on device")
    if interactive:
        sent = hashlib.sha256(sys.stdin.buffer.read()).hexdigest()
        state["sent"][node] = [" ".join(command), sent]
    elif "ls" in command and node in state["sent"]:
        sys.stdout.write(command[-1].removeprefix("name=="))
    elif command[0] == "systemctl":
        return _systemctl(state, node, command[1])
    return 0


def _systemctl(state: State, node: str, verb: str) -> int:
    """Answer for a node's kubelet, with systemd's own code for one that is not active."""
    if verb == "is-active":
        return 3 if node in state["without_kubelet"] else 0
    state["without_kubelet"] = [each for each in state["without_kubelet"] if each != node]
    if verb == "stop":
        state["without_kubelet"].append(node)
    return 0


def _names(container: State) -> set[str]:
    return {container["Id"], container["Name"].lstrip("/")}


def _refuse(words: str) -> int:
    sys.stderr.write(f"{words}\n")
    return 1


_COMMANDS = {
    "info": _info,
    "ps": _ps,
    "image": _inspect,
    "container": _inspect,
    "rm": _remove,
    "start": _start,
    "restart": _start,
    "exec": _execute,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
