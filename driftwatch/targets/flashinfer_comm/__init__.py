"""All that is FlashInfer's own.

Its target, policy, advisories, and the fused allreduce that adapters embed.
"""
