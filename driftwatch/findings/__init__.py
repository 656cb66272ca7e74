"""Findings: verdicts within the checked range, the place that each is about, and those that a project hides.

Enters: verdicts of the rules, the checked releases, comments, patterns and a baseline. Leaves: findings in their
total order, with fingerprints that survive edits elsewhere. May import: `project`, the releases and the uses; never
the rules.
"""
