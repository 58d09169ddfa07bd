"""What a test expects of pods and nodes: each waits with a deadline, and explains itself."""
