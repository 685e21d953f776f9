"""Drivers: they start, wire, reset, describe and stop a DUT."""
