"""The fake device plugin: what runs on a node. It imports nothing of the lab.

Its dependencies are grpcio, protobuf, PyYAML and inotify_simple, so that the image stays small.
"""
