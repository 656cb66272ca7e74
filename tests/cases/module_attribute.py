import flashinfer.comm


def run(hidden, workspace):
    out = flashinfer.comm.allreduce_fusion(hidden, workspace, 0, moe_finalize_backend="auto")
    return out
