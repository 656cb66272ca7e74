from flashinfer import comm


def run(x, workspace):
    if (fused := getattr(comm, "allreduce_fusion", None)) is not None:
        return fused(input=x, workspace=workspace, pattern=0, trigger_completion_at_end=False)
    return x
