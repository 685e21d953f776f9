"""Statistics, estimators and checks: pure functions of numbers."""
