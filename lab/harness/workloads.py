"""Objects that ask for devices, in the short form in which a test writes them.

What is returned is the API's own JSON: what is missing here can be added to it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from lab.images.node.versions import BUSYBOX_TAG

Manifest = dict[str, Any]
Amounts = Mapping[str, int | str]

#: Has a shell, and is in the lab's node image.
IMAGE: Final = f"busybox:{BUSYBOX_TAG}"
#: Prints the IDs of the devices that a container was given, and stays.
SHOW_DEVICES: Final = "echo $GPULAB_VISIBLE_DEVICES; exec sleep 86400"


def container(
    name: str = "main",
    *,
    limits: Amounts | None = None,
    requests: Amounts | None = None,
    script: str = SHOW_DEVICES,
    image: str = IMAGE,
    **more: Any,  # noqa: ANN401 - any other field of the API's Container
) -> Manifest:
    """Return a container that runs a line of shell; by default it prints its devices and stays."""
    asked = {"limits": limits, "requests": requests}
    resources = {key: _texts(each) for key, each in asked.items() if each is not None}
    return {
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c", script],
        "resources": resources,
        **more,
    }


def pod(  # noqa: PLR0913 - each is a field that tests of devices need
    name: str,
    *,
    limits: Amounts | None = None,
    requests: Amounts | None = None,
    script: str = SHOW_DEVICES,
    containers: Sequence[Manifest] = (),
    node: str | None = None,
    tolerates: Sequence[str] = (),
    labels: Mapping[str, str] | None = None,
    **more: Any,  # noqa: ANN401 - any other field of the API's PodSpec
) -> Manifest:
    """Return a Pod of one container, or of the `containers` that are given.

    `node` is the name that the cluster has for the node that is wanted; the scheduler decides, as
    it does not for `nodeName`. `tolerates` are keys of taints, whatever their value. A pod that is
    deleted goes at once.
    """
    spec: Manifest = {
        "terminationGracePeriodSeconds": 0,
        "containers": [*containers] or [container(limits=limits, requests=requests, script=script)],
        **more,
    }
    if node:
        spec["nodeSelector"] = {"kubernetes.io/hostname": node, **spec.get("nodeSelector", {})}
    if tolerates:
        spec["tolerations"] = [{"key": key, "operator": "Exists"} for key in tolerates]
    meta = {"name": name, "labels": {"app": name, **(labels or {})}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def deployment(name: str, *, replicas: int = 1, **of_the_pod: Any) -> Manifest:  # noqa: ANN401 - as `pod` takes it
    """Return a Deployment of such pods."""
    template = pod(name, **of_the_pod)
    labels = template["metadata"].pop("labels")
    del template["apiVersion"], template["kind"], template["metadata"]["name"]
    template["metadata"]["labels"] = labels
    selector = {"matchLabels": {"app": name}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": selector, "template": template},
    }


def _texts(amounts: Amounts) -> dict[str, str]:
    return {name: str(amount) for name, amount in amounts.items()}
