"""Repairs: edits that make findings go away.

Enters: findings, the uses behind them, and files. Leaves: edits, and for all that is not fixed the reason.

One file per repair, by the rule that it is for; none of them knows whether it is right: `scan.fix` proves that before
anything is offered. The text that no edit touches stays, byte for byte.
"""
