"""The deck's charts, a kind a file: what a record holds as plain data, and how it is drawn."""
