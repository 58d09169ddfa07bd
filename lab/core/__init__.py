"""Values and rules of the lab, free of I/O: errors, exit codes, the fleet, what a node is."""
