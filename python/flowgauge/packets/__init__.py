"""The packet tools behind `flowgauge generate` and `flowgauge capture`: what their options mean, and what they do."""
