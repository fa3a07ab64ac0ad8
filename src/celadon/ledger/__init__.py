"""The ledger: what calls cost, as figures, advice and pages, read from the event log for the command line."""
