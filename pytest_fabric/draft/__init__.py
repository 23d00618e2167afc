"""From what nodes show to a first cluster file: who is asked, what is seen, what is written."""
