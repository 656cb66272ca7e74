"""All that is FlashInfer's own: its target, policy, advisories, and the fused allreduce that adapters embed."""
