"""Many code bases against one or several libraries: independent units, results that are kept, one merged answer.

Enters: a list of code bases. Leaves: for each a row, with its states, findings and uses, or why there is none.
`listing` reads the list, `unit` is the work on one code base, `kept` the results that are there already, `run` has
units done by any `concurrent.futures.Executor`, `merged` puts rows together; `page` and `forms` show them.
"""
