"""The container device interface: how a container runtime is told what a device's name stands for.

    values (spec) → rules → a file in /var/run/cdi (folder) ← containerd

The rules are those of CDI 1.1.0, as its Go library applies them (tags.cncf.io
/container-device-interface, pkg/cdi): the JSON schema beside it lets specs pass that a runtime
refuses.
"""
