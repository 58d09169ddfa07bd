"""Files: a mapping taken strictly, a file that is replaced whole, what tells it from another."""
