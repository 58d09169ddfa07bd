// With a file of assembly beside them, functions may be declared without a body.
