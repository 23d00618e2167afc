"""Site-wide configuration of the acceptance suites: put your own fixtures and hooks here."""
