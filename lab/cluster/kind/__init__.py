"""The kind backend: real Kubernetes in containers of the local Docker engine."""
