from flashinfer.comm import create_allreduce_fusion_workspace


def run(group, size):
    try:
        return create_allreduce_fusion_workspace(backend="trtllm", world_size=size, rank=0, group=group)
    except TypeError:
        return create_allreduce_fusion_workspace(backend="trtllm", world_size=size, rank=0)
