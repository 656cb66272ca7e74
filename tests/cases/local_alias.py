from flashinfer import comm

make = comm.create_allreduce_fusion_workspace if hasattr(comm, "create_allreduce_fusion_workspace") else None


def run(group, size):
    create = make
    if create is None:
        return None
    return create(backend="trtllm", world_size=size, rank=0, group=group)
