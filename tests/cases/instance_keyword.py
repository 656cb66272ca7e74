from flashinfer.comm import create_allreduce_fusion_workspace as create


def run(dtype):
    workspace = create("trtllm", 2, 0, 64, 128, dtype)
    return workspace.is_buffer_size_sufficient(tp_size=2, num_tokens=64, hidden_dim=128, dtype=dtype, made_up=True)
