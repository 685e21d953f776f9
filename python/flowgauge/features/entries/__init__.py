"""The lists of feature tests, one file per part of the specification. A new test is a new entry."""
