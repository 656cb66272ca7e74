from flashinfer import comm


def make_workspace(*args, **kwargs):
    return comm.create_allreduce_fusion_workspace("trtllm", *args, **kwargs)
