"""The machine and the labs that the tests see, through the programs that users have."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ALLOCATABLE = "{.status.allocatable.fake\\.example\\.com/device}"
USER_KUBECONFIG = "apiVersion: v1\nkind: Config\ncurrent-context: production\n"
Ended = subprocess.CompletedProcess[str]


def run(*argv: str, env: dict[str, str] | None = None, check: bool = True) -> Ended:
    """Run a program; on failure the error carries all that it printed."""
    ended = subprocess.run(
        argv, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False
    )
    if check and ended.returncode != 0:
        raise AssertionError(f"{argv} exited with {ended.returncode}\n{ended.stdout}{ended.stderr}")
    return ended


def wait_until(seen: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Look until it is so, at most for `seconds`."""
    ends = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < ends, f"not within {seconds:g} s: {what}"
        time.sleep(0.1)


@dataclass(frozen=True)
class Machine:
    """This machine, with a state folder and a user's kubeconfig of the tests' own."""

    state: Path
    user_kubeconfig: Path

    @property
    def environment(self) -> dict[str, str]:
        """What `gpulab` is run with."""
        return {
            "GPULAB_STATE_HOME": str(self.state),
            "KUBECONFIG": str(self.user_kubeconfig),
            "NO_COLOR": "1",
        }

    def gpulab(self, *arguments: str, env: dict[str, str] | None = None) -> Ended:
        """Run `gpulab` to its end."""
        command = (sys.executable, "-m", "lab.cli.main", *arguments)
        return run(*command, env={**self.environment, **(env or {})}, check=False)

    def findings(self) -> dict[str, Any]:
        """Return what `gpulab doctor` found, by the name of the check."""
        report = json.loads(self.gpulab("doctor", "--output", "json").stdout)
        return {finding["name"]: finding for finding in report["findings"]}

    def node_image(self) -> str:
        """Return the image that nodes start from."""
        measured: str = self.findings()["node-image"]["measured"]
        return measured.partition(" ")[0]

    @contextmanager
    def started(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Run `gpulab` beside the block; it has ended when the block has."""
        command = (sys.executable, "-m", "lab.cli.main", *arguments)
        child = subprocess.Popen(
            command,
            env={**os.environ, **self.environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            yield child
        finally:
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
            child.wait(120)
            assert child.stderr
            child.stderr.close()

    @contextmanager
    def lab(self, name: str, folder: Path, *options: str) -> Iterator["Lab"]:
        """Bring a lab up for the block; take it down after it, and see that nothing is left."""
        try:
            up = self.gpulab("up", "--name", name, *options)
            assert up.returncode == 0, up.stderr
            yield Lab(self, name, folder)
        finally:
            down = self.gpulab("down", "--name", name)
        assert down.returncode == 0, down.stderr
        assert self.left_of(name) == []

    @contextmanager
    def lab_of_fleet(self, name: str, folder: Path, fleet: str) -> Iterator["Lab"]:
        """Bring a lab up for the block with the text of a fleet file."""
        file = folder / "fleet.yaml"
        file.write_text(fleet)
        with self.lab(name, folder, "--fleet", str(file)) as lab:
            yield lab

    def clear(self) -> None:
        """Take down the labs of an earlier run that was killed.

        What begins with a dot is no lab: the pytest plugin keeps there what it knows of its runs.
        """
        for folder in sorted(self.state.glob("[!.]*")):
            down = self.gpulab("down", "--name", folder.name)
            assert down.returncode == 0, down.stderr

    def left_of(self, name: str) -> list[str]:
        """Return the containers and files that are there of a lab."""
        label = f"label=io.x-k8s.kind.cluster={name}"
        containers = run("docker", "ps", "-a", "--filter", label, "--format", "{{.Names}}")
        files = [str(path) for path in (self.state / name,) if path.exists()]
        return containers.stdout.split() + files


@dataclass(frozen=True)
class Lab:
    """A lab that is up."""

    machine: Machine
    name: str
    folder: Path

    @property
    def worker(self) -> str:
        """The node with the devices."""
        return f"{self.name}-worker"

    @property
    def kubeconfig(self) -> Path:
        """The lab's own kubeconfig."""
        return self.machine.state / self.name / "kubeconfig"

    def kubectl(self, *arguments: str, check: bool = True) -> Ended:
        """Run `kubectl` as a user would who has exported the lab's KUBECONFIG."""
        env = {"KUBECONFIG": str(self.kubeconfig)}
        return run(self.kubectl_program(), *arguments, env=env, check=check)

    def get(self, *arguments: str) -> Any:  # noqa: ANN401 - any object of the API
        """Return what `kubectl get` says, as JSON."""
        return json.loads(self.kubectl("get", *arguments, "-o", "json").stdout)

    def in_worker(self, *argv: str) -> str:
        """Run a command in the worker's container."""
        return run("docker", "exec", self.worker, *argv).stdout

    def start_pod(
        self,
        name: str,
        limits: dict[str, int],
        script: str = "echo $GPULAB_VISIBLE_DEVICES; exec sleep 3600",
        node: str | None = None,
    ) -> None:
        """Create a pod with devices, which by default prints those that it sees, and stays."""
        container = {
            "name": "test",
            "image": "busybox:1.36",
            "command": ["sh", "-c", script],
            "resources": {"limits": limits},
        }
        spec: dict[str, Any] = {"terminationGracePeriodSeconds": 0, "containers": [container]}
        if node:
            spec["nodeSelector"] = {"kubernetes.io/hostname": node}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
        manifest = self.folder / f"{name}.json"
        manifest.write_text(json.dumps(pod))
        self.kubectl("apply", "-f", str(manifest))

    def wait_for_pod(self, name: str) -> None:
        """Wait until a pod runs."""
        self.kubectl("wait", f"pod/{name}", "--for=condition=Ready", "--timeout=60s")

    def in_pod(self, pod: str, script: str) -> str:
        """Run a line of shell in a pod's container."""
        return self.kubectl("exec", pod, "--", "sh", "-c", script).stdout

    def wait_for_allocatable(self, count: int, seconds: int) -> None:
        """Wait until the worker shows that many devices."""
        self.kubectl(
            "wait",
            f"node/{self.worker}",
            f"--for=jsonpath={ALLOCATABLE}={count}",
            f"--timeout={seconds}s",
        )

    def plugin_pod(self) -> Any:  # noqa: ANN401 - an object of the API
        """Return the one pod of the device plugin."""
        pods = self.get("pods", "-n", "kube-system", "-l", "app=fake-gpu-device-plugin")["items"]
        (pod,) = [each for each in pods if "deletionTimestamp" not in each["metadata"]]
        return pod

    def kubectl_program(self) -> str:
        """Return a kubectl: the user's, or the node's own where the machine has none."""
        if found := shutil.which("kubectl"):
            return found
        copied = self.folder / "kubectl"
        if not copied.exists():
            run("docker", "cp", "-L", f"{self.worker}:/usr/bin/kubectl", str(copied))
        return str(copied)
