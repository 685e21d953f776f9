"""`python -m flowgauge` is `flowgauge`."""

from flowgauge.cli import main

if __name__ == "__main__":
    main()
