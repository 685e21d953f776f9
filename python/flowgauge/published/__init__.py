"""The literature's results, in the schema of a run."""
