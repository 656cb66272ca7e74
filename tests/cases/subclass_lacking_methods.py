from flashinfer.comm.mnnvl import CommBackend


class Partial(CommBackend):
    def Get_rank(self):
        return 0

    def Get_size(self):
        return 1


def run():
    return Partial()
