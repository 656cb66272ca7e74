from flashinfer.comm import allreduce_fusion


def run(hidden, workspace):
    return allreduce_fusion(input=hidden, workspace=workspace, pattern=1, trigger_completion_at_end=True)
