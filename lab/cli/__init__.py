"""The command line: one file per command, `main` to find them, `console` to speak to people."""
