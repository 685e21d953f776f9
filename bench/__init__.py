"""Our speed beside a peer's, in one run: interleaved pairs, one JSON line per case."""
