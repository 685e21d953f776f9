"""Runs a plan on a DUT: `plan` decides what, `worker` measures in a process of its own, `runner` leads and records.

A crash of a driver or of the packet side is a failed trial, never the end of a run.
"""
