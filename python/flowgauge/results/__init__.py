"""The run directory: written while a run goes on, read by everything else.

`schema` says what stands in it, `writer` writes it so that it is valid after a crash at any moment, `reader` reads it.
This package knows no benchmark, no device and no chart.
"""
