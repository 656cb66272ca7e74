from flashinfer.comm import AllReduceFusionPattern as Pattern


def run():
    return Pattern.kMoEReductionARResidualRMSNorm
