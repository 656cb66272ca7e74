"""What a release's public API is: collected without running it, stored canonically, compared over time."""
