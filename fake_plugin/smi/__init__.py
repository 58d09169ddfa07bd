"""The vendors' tools, `nvidia-smi`, `rocm-smi` and `npu-smi`, as small programs for any container.

    readings → a table in a folder of the node (table) ─┐ mounted by Allocate
    parts (*.sh) → one program per tool (programs) ─────┴→ /run/gpu-lab and /usr/bin in a container

The image needs a POSIX shell and nothing else: the programs use the shell's own commands only, and
`date` and `sleep` where they are there. They show the devices of their container, as its
environment names them, and say N/A where the table has no figure. Options of the real tools that
they lack are refused by name.
"""
