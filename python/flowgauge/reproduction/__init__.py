"""Published tables beside their reproduction on device models: what is compared, how rows are judged, and the page that shows it.

`tables` says which table is which benchmark on which model, `judge` sets rows side by side, `run` measures, `page` writes.
"""
