from importlib.metadata import version

import flashinfer
from flashinfer import comm
from packaging.version import Version, parse

_HAS_GROUP = parse(version("flashinfer-python")) > parse("0.6.10")


def run(group, size):
    if Version(flashinfer.__version__) >= Version("0.6.10.post1"):
        return comm.create_allreduce_fusion_workspace(backend="trtllm", world_size=size, rank=0, group=group)
    if Version(flashinfer.__version__) < Version("0.6.0"):
        return None
    return comm.create_allreduce_fusion_workspace(backend="trtllm", world_size=size, rank=0)


def run_by_flag(group, size):
    if _HAS_GROUP:
        return comm.create_allreduce_fusion_workspace(backend="trtllm", world_size=size, rank=0, group=group)
    return None


def run_a_release_too_early(group, size):
    if Version(flashinfer.__version__) >= Version("0.6.9"):
        return comm.create_allreduce_fusion_workspace(backend="trtllm", world_size=size, rank=0, group=group)
    return None
