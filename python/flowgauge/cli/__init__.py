"""The command line: one file per command, imports are lazy."""
