"""The documentation: pages in Markdown, and those of the reference, made from the code."""
