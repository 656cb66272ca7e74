_comm = None

try:
    from flashinfer import comm as _found

    _comm = _found
except ImportError:
    _comm = None


def run(group):
    if _comm is None:
        raise RuntimeError("flashinfer is not installed")
    return _comm.create_allreduce_fusion_workspace(backend="trtllm", world_size=4, rank=1, group=group)
