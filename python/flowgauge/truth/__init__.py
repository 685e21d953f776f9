"""The truth harness: benchmarks on simulated devices whose properties are known, and what their estimates are worth.

`devices` draws device models, `expected` says what each figure of a benchmark should be, `harness` runs and compares, `score` condenses
and prints. Nothing here is needed to measure; `make truth` runs it.
"""
