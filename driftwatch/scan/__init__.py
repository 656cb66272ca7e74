"""Scans: what a person asks for in, a `report_model.Report` out; nothing is printed here and nobody exits.

`pipeline` is one scan from end to end. Beside it stand what it is given (`code_bases`, `libraries`, `selection`), what
it leaves (`report_model`, `sites`), and what scans twice: against a base revision (`diff_base`), and to prove a repair
(`fix`). May import: the rules, the repairs, and all below them; never a format or the command line.
"""
