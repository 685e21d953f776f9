"""What benchmarks see, live and simulated."""
