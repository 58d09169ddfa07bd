"""A cluster and its nodes: how one is made, reached and taken away."""
