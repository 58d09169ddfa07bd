"""The parts of a kubelet: what gives devices to containers, and says who holds them."""
