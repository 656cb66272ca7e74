"""From a library's history and a policy to one generated module that calls whatever
build is installed.

`plan`, `policy`, `literal`, `render` and `write` make the file. `signatures`,
`installed`, `rules`, `settler`, `wrapping`, `classes`, `binding`, `submodules` and
`runtime` are its run time: they import nothing of driftwatch but each other, and their
source goes into the file.
"""
