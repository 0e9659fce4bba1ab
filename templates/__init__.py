"""Jinja2 templates: what the compiler prints."""
