"""The book: its sections, the ledger of claims, figures and pages."""
