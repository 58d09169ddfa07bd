"""What is put into a cluster, and the order of the steps."""
