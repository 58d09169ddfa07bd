"""gpu-lab: a GPU cluster without GPUs.

The package is layered; each layer imports downwards only (checked by import-linter):
`core` (values and rules), `host` (this machine: processes, folders, Docker), `cluster` and
`images`, `install`, `cli`. What runs on a node is the separate package `fake_plugin`.
"""

__version__ = "0.1.0"
