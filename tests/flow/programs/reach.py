"""Code that is looked at although nothing in it names the library: what it does with the library is followed there."""

from __future__ import annotations

from tests.flow.marked import marked

REACH = (
    marked(
        "attribute_that_a_nested_function_makes",
        """
        import lib.comm as comm


        class Pool:
            def __init__(self, g):
                def make():
                    return comm.Workspace(g)

                self.workspace = make()

            def close(self):
                return self.workspace.close()  #! DW203 close 0.1.0 to 0.2.0 raises


        def run(g):
            return Pool(g).close()
        """,
    ),
    marked(
        "attribute_from_a_variable_of_the_same_name",
        """
        import lib.comm as comm


        class Pool:
            def __init__(self):
                self.workspace = None

            def setup(self, g):
                workspace = comm.Workspace(g)
                self.workspace = workspace

            def close(self):
                if self.workspace is not None:
                    return self.workspace.close()  #! DW203 close 0.1.0 to 0.2.0 raises
                return None


        def run(g):
            pool = Pool()
            pool.setup(g)
            return pool.close()
        """,
    ),
    marked(
        "attribute_that_is_renamed_on_its_way",
        """
        import lib.comm as comm


        class Pool:
            def __init__(self, g):
                made = comm.Workspace(g)
                self.parts = (g, made)

            def first(self):
                _, held = self.parts
                return held

            def close(self):
                return self.first().close()  #! DW203 close 0.1.0 to 0.2.0 raises


        def run(g):
            return Pool(g).close()
        """,
    ),
)
