import flashinfer.comm as fi_comm


def run(x):
    if hasattr(fi_comm, "decode_cp_a2a_alltoall"):
        return fi_comm.decode_cp_a2a_alltoall
    return x


def run_early_return(x):
    if not hasattr(fi_comm, "moe_a2a_initialize"):
        return x
    return fi_comm.moe_a2a_initialize


def run_wrong_name(x):
    if hasattr(fi_comm, "allreduce_fusion"):
        return fi_comm.decode_cp_a2a_alltoall
    return x
