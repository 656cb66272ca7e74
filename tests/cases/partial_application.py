from functools import partial

from flashinfer import comm


def run(group, size):
    create = partial(comm.create_allreduce_fusion_workspace, "trtllm", group=group)
    return create(world_size=size, rank=0)
