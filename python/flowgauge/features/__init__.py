"""Feature tests: does a switch support this at all, and rightly? (METHODS section 3; the OpenFlow specifications)

Each test is one entry of a list in `entries`: rule and expected frame are derived from the same field values. Every frame must
behave; there is no tolerance. `catalogue` holds them all; `tester` is what a test works with.
"""
