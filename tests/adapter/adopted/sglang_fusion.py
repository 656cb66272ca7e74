"""SGLang's fused allreduce on the adapter, without what decides and makes."""

import fi_adapter as comm

_operations = {}


def operation(group, hidden_dim, dtype, max_token_num, fp32_acc=True, backend="auto"):
    """The operation of a group for a shape; all its ranks come here together."""
    key = (group, hidden_dim, dtype, fp32_acc)
    known = _operations.get(key)
    if known is None or known.request.max_token_num < max_token_num:
        if known is not None:
            known.close()
        _operations[key] = comm.FusedAllReduce(
            group,
            hidden_dim,
            dtype,
            max_token_num,
            backend=backend,
            fp32_acc=fp32_acc,
            max_bytes=0,
        )
    return _operations[key]


def pre_initialize(groups, max_token_num, hidden_dim, dtype):
    """Before graphs are captured."""
    for group in groups:
        operation(group, hidden_dim, dtype, max_token_num)


def allreduce_residual_rmsnorm(
    group,
    x,
    residual,
    weight,
    eps=1e-6,
    max_token_num=2048,
    use_oneshot=None,
    trigger_completion_at_end=False,
    fp32_acc=True,
):
    """The norm and the new residual; (None, None) where the layer is to do it its way."""
    op = operation(group, x.shape[-1], x.dtype, max_token_num, fp32_acc)
    if not op.can_run(x):
        return None, None
    return op(
        x,
        residual,
        weight,
        eps,
        use_oneshot=use_oneshot,
        trigger_completion_at_end=trigger_completion_at_end,
    )


def can_allreduce(group, x):
    """Whether `allreduce` would be fused: the same answer on every rank."""
    op = _operations.get((group, x.shape[-1], x.dtype, True))
    return op is not None and op.can_run(x)


def allreduce(group, x):
    """The sum alone."""
    op = _operations[group, x.shape[-1], x.dtype, True]
    return op.allreduce(x, trigger_completion_at_end=False)


def cleanup():
    """Free all workspaces; all ranks come here together."""
    for op in _operations.values():
        op.close()
    _operations.clear()
