"""The command line: one file per sub-command, each imported only when used."""
