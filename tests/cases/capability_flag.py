from inspect import signature

from flashinfer import comm

_TAKES_GROUP = hasattr(comm, "create_allreduce_fusion_workspace") and (
    "group" in signature(comm.create_allreduce_fusion_workspace).parameters
)


def run_with_dict(group, size):
    options = {"backend": "trtllm", "world_size": size, "rank": 0}
    if _TAKES_GROUP:
        options["group"] = group
    return comm.create_allreduce_fusion_workspace(**options)


def run_direct(group, size):
    if not _TAKES_GROUP:
        return None
    return comm.create_allreduce_fusion_workspace(backend="trtllm", world_size=size, rank=0, group=group)
