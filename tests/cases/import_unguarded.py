from flashinfer.comm import MoeAlltoAll


def run(m):
    return MoeAlltoAll
