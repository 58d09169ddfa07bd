"""The part of the contract that can be seen in a cluster, tried on an image."""
