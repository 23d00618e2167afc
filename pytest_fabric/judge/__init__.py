"""From values to verdicts: limits, and the values that tests compare with them."""
