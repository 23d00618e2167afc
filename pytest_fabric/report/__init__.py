"""What a run leaves behind and shows: the run directory, JUnit, HTML and the terminal's text."""
