"""Records → a deck. Imports the record's readers and jinja2; never torch, triton or a demo."""
