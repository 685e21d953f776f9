"""Suites: lists of benchmarks with parameters, in TOML."""
