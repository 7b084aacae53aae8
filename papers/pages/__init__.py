"""What was found, as Markdown and as one HTML page with figures."""
