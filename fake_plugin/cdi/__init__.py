"""The container device interface: how a container runtime is told what a device's name stands for.

    values (spec) → rules → a file in /var/run/cdi (folder) ← containerd

    devices, publication   what pools want published, and the specs of it, kept as the node is
    spec, names            a spec and the names in it, as values
    rules, shape           what a runtime refuses, and how that is looked for
    folder, found          what is written and removed, and what others have in the folder

The rules are those of CDI 1.1.0, as its Go library applies them (tags.cncf.io
/container-device-interface, pkg/cdi): the JSON schema beside it lets specs pass that a runtime
refuses.
"""
