"""A lab on a kind cluster: its creation, and what the lab asks of it later."""
