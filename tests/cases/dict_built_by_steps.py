from flashinfer import comm


def run(group, size):
    options = {"backend": "mnnvl", "world_size": size}
    options["rank"] = 0
    options.update(group=group)
    return comm.create_allreduce_fusion_workspace(**options)
