"""What one file puts of the library into another file's variables and containers."""

from __future__ import annotations

from tests.flow.marked import marked

PUT_BY_OTHERS = (
    marked(
        "put_by_others_module_put_into_another",
        """
        from holder import get, install
        import lib.comm as comm

        install(comm)


        def run(x):
            return get().fuse(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        holder="""
        _lib = None


        def install(lib):
            global _lib
            _lib = lib


        def get():
            return _lib
        """,
    ),
    marked(
        "put_by_others_function_put_into_a_registry",
        """
        from registry import get, register
        import lib.comm as comm

        register("fuse", comm.fuse)


        def run(x):
            return get("fuse")(x, 1, early=True)  #! DW101 early 0.1.0 raises
        """,
        registry="""
        _REGISTRY = {}


        def register(name, fn):
            _REGISTRY[name] = fn


        def get(name):
            return _REGISTRY[name]
        """,
    ),
    marked(
        "put_by_others_registered_by_a_third_file",
        """
        import kernels
        from registry import launch


        def run(x):
            return launch("fuse", x, early=True)  #! DW101 early 0.1.0 raises
        """,
        registry="""
        _REGISTRY = {}


        def register(name, fn):
            _REGISTRY[name] = fn


        def launch(name, *args, **options):
            return _REGISTRY[name](*args, 1, **options)
        """,
        kernels="""
        import lib.comm as comm
        from registry import register

        register("fuse", comm.fuse)
        """,
    ),
    marked(
        "put_by_others_in_a_container_of_its_own",
        """
        import lib.comm as comm
        from registry import launch, register

        register("fuse", comm.fuse, early=True)  #! DW101 early 0.1.0 raises


        def run(x):
            return launch("fuse", x)
        """,
        runs=False,
        registry="""
        _REGISTRY = {}


        def register(name, fn, **options):
            _REGISTRY[name] = (fn, options)


        def launch(name, x):
            fn, options = _REGISTRY[name]
            return fn(x, 1, **options)  #! DW101 early 0.1.0 raises; ? `lib.comm.fuse` is called with `**` of unknown content
        """,  # noqa: E501
    ),
)
