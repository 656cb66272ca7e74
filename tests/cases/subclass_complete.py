from flashinfer.comm.mnnvl import CommBackend


class Complete(CommBackend):
    def __init__(self, group=None):
        self.group = group

    def Get_rank(self):
        return 0

    def Get_size(self):
        return 1

    def allgather(self, data):
        return [data]

    def bcast(self, data, root):
        return data

    def barrier(self):
        return None

    def Split(self, color, key):
        return Complete(self.group)


def run(group):
    return Complete(group)
