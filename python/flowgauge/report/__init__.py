"""What a person reads: tables, charts, HTML."""
