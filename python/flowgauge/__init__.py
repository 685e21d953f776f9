"""Flowgauge measures OpenFlow switches: control path, data path, and how the two interact."""

__version__ = "0.1.0"
