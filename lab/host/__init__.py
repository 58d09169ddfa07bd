"""This machine as the lab uses it: child processes, its own folders, the Docker engine."""
