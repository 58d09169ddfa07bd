"""What clusters do with devices, shown one thing at a time: a file each, named after its lesson."""
