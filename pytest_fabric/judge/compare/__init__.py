"""Whether the runs after a change are worse than those before it: values in, a comparison out."""
