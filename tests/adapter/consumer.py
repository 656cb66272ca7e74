"""An engine's layer, as SGLang's was before its fix: it passes what the newest release takes and catches the rest.

The tests run it against every release, with `the_library` the real one, and the adapter.
"""

import logging

import the_library as comm

logger = logging.getLogger(__name__)


class WorkspaceManager:
    def __init__(self):
        self.workspace = None
        self.failure = None

    def initialize(self, world_size, rank, max_token_num, hidden_dim, dtype, group=None):
        kwargs = dict(  # noqa: C408 - as engines write it
            backend="trtllm",
            world_size=world_size,
            rank=rank,
            max_token_num=max_token_num,
            hidden_dim=hidden_dim,
            dtype=dtype,
        )
        kwargs["group"] = group
        try:
            self.workspace = comm.create_allreduce_fusion_workspace(**kwargs)
        except Exception as error:  # noqa: BLE001 - the story this is about
            self.failure = error
            logger.warning("Failed to initialize workspace: %s. Disabling fusion.", error)


manager = WorkspaceManager()


def allreduce_residual_rmsnorm(x, residual, weight, norm_out, residual_out, eps=1e-6):
    comm.allreduce_fusion(
        input=x,
        workspace=manager.workspace,
        pattern=comm.AllReduceFusionPattern.kARResidualRMSNorm,
        launch_with_pdl=True,
        trigger_completion_at_end=True,
        residual_out=residual_out,
        norm_out=norm_out,
        residual_in=residual,
        rms_gamma=weight,
        rms_eps=eps,
        use_oneshot=None,
        fp32_acc=False,
    )
    return norm_out, residual_out
