"""What vLLM's passes put in the place of an allreduce and a norm, on the adapter."""

import fi_adapter as comm


class FusedNorms:
    """What the passes put in the place of an allreduce and the norm after it."""

    def __init__(self, group, hidden_dim, dtype, max_token_num, unfused=None):
        self.op = comm.FusedAllReduce(group, hidden_dim, dtype, max_token_num, fallback=unfused)

    def covers(self, tokens):
        """Whether a compiled range that ends here is worth the pass."""
        op = self.op
        limit = op.terms.max_bytes if op.terms is not None else 0
        rows = op.request.max_token_num
        return tokens <= (rows if limit is None else min(rows, limit // op.request.row_bytes))

    def norm(self, x, weight, eps, weight_bias=0.0):
        """The norm of the sum, and the sum."""
        return self.op(x, None, weight, eps, weight_bias)

    def add_norm(self, x, residual, weight, eps, weight_bias=0.0):
        """Into the input and the residual, as the pattern wants it."""
        complete = x.shape[0] > 1
        return self.op(
            x,
            residual,
            weight,
            eps,
            weight_bias,
            norm_out=x,
            residual_out=residual,
            trigger_completion_at_end=complete,
        )

    def fp8(self, x, residual, weight, eps, scale):
        """The norm divided by a scale, and the new residual."""
        made = self.op.quantized(x, residual, weight, eps, kind="fp8", scale=scale)
        return made.quant, made.residual

    def nvfp4(self, x, residual, weight, eps, scale):
        """Packed values, their scales in tiles of 128 by 4, and the new residual."""
        made = self.op.quantized(x, residual, weight, eps, kind="nvfp4", scale=scale)
        return made.quant, made.scale.view(-1, (x.shape[-1] // 16 + 3) // 4 * 4), made.residual

    def allreduce(self, x):
        """The sum alone; None leaves it to the next communicator."""
        return self.op.allreduce(x) if self.op.can_run(x) else None

    def suspend(self):
        """False where the memory stays where it is."""
        return self.op.checkpoint_prepare()

    def resume(self):
        return self.op.checkpoint_restore()
