"""One module per vendor: how its devices are called, and what a container gets with them."""
