"""Runs in a pod on a node: stops its kubelet when it is told to, and starts it again.

Without its kubelet a node takes no pod and no exec, so what starts the kubelet has to be there
before it is stopped, and to be told over the network: through the API server's pod proxy. Told
nothing for an hour, it starts the kubelet by itself. This file is sent as it is; it imports the
standard library alone.
"""

import hmac
import os
import shutil
import subprocess
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer

PORT = 9443
HEADER = "X-Gpulab-Token"
VARIABLE = "GPULAB_TOKEN"
_LONGEST_SECONDS = 3600.0
_COMMANDS = {
    "stop": ("systemctl", "stop", "kubelet"),
    "start": ("systemctl", "start", "kubelet"),
    "forget": ("rm", "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"),
}
_HOST = "0.0.0.0"  # noqa: S104 - the API server comes from outside; the token keeps others out


class Handler(BaseHTTPRequestHandler):
    """Answers POST /stop, /start and /forget (the kubelet's checkpoint).

    With 200 where that is done, else with 500, and with what the command said.
    """

    def do_POST(self) -> None:
        """Do as the path says, for one who has the token."""
        verb = self.path.strip("/")
        token = os.environ[VARIABLE].encode()
        if not hmac.compare_digest(self.headers.get(HEADER, "").encode(), token):
            self._answer(HTTPStatus.UNAUTHORIZED, "wrong token\n")
        elif verb not in _COMMANDS:
            self._answer(HTTPStatus.NOT_FOUND, f"{', '.join(_COMMANDS)}\n")
        else:
            self._answer(*kubelet(verb))

    def _answer(self, status: HTTPStatus, text: str) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())


def kubelet(verb: str) -> tuple[HTTPStatus, str]:
    """Stop or start the kubelet of the machine whose processes this one sees, or let it forget."""
    enter = ["nsenter"] if shutil.which("nsenter") else ["busybox", "nsenter"]
    command = [*enter, "-t", "1", "-m", "-u", "-i", "-n", "--", *_COMMANDS[verb]]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    status = HTTPStatus.INTERNAL_SERVER_ERROR if ended.returncode else HTTPStatus.OK
    return status, ended.stderr or ended.stdout


if __name__ == "__main__":
    threading.Timer(_LONGEST_SECONDS, kubelet, ("start",)).start()
    HTTPServer((_HOST, PORT), Handler).serve_forever()
