"""The fake device plugin: what runs on a node. It imports nothing of the lab.

Its dependencies are grpcio, protobuf, PyYAML and inotify_simple, so that the image stays small.
"""

#: That of the lab, which the plugin cannot ask: where it runs, there is no lab.
__version__ = "0.1.0"
