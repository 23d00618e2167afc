"""Tickets: one for each cable or part that somebody has to put right."""
