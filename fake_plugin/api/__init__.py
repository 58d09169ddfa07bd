"""The kubelet's device plugin API, v1beta1: our own description of it, and the generated code."""
