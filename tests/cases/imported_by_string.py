from importlib import import_module


def run(group, size):
    library = import_module("flashinfer.comm")
    return library.create_allreduce_fusion_workspace(backend="trtllm", world_size=size, rank=0, group=group)
