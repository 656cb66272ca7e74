"""Programs run against stubs of every release, and what the analysis says about them, compared."""
