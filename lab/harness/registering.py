"""A program that registers names with a kubelet, and prints why it takes none of them.

A name that is valid is refused, too: nobody listens on the socket that goes with it.
It runs in the plugin's image, where there is no lab: `python -c PROGRAM FOLDER NAME...`.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import grpc

from fake_plugin.api.deviceplugin_pb2 import RegisterRequest
from fake_plugin.api.deviceplugin_pb2_grpc import RegistrationStub


def main(arguments: Sequence[str]) -> None:
    """Register the names at the kubelet of a folder, and print a line for each."""
    folder, *names = arguments
    with grpc.insecure_channel(f"unix://{Path(folder) / 'kubelet.sock'}") as channel:
        for name in names:
            request = RegisterRequest(version="v1beta1", endpoint="nobody.sock", resource_name=name)
            try:
                RegistrationStub(channel).Register(request, timeout=15)
            except grpc.RpcError as refused:
                print(f"{name}: {refused.details()}")  # noqa: T201 - what it is for


if __name__ == "__main__":
    main(sys.argv[1:])
