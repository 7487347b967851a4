"""The terminal: a full-screen view of a `talk.runner.Talk`, and a plain walk through it."""
