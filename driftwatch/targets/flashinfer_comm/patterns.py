"""The fusion patterns by their upstream names, and what belongs to one.

Enters: nothing. Leaves: names, and for a quantised kind its patterns.
"""

from __future__ import annotations

PLAIN_PATTERN, NORM_PATTERN = "kAllReduce", "kARResidualRMSNorm"
MOE_PATTERN = "kMoEFinalizeARResidualRMSNorm"
MOE_FP8_PATTERN = "kMoEFinalizeARResidualRMSNormFP8Quant"
MOE_PATTERNS = (MOE_PATTERN, MOE_FP8_PATTERN)
FP8, DYNAMIC_FP8, GROUP_FP8, NVFP4, MXFP8 = (
    "fp8",
    "dynamic-fp8",
    "group-fp8",
    "nvfp4",
    "mxfp8",
)
LINEAR, SWIZZLED, SWIZZLED_8 = "linear", "128x4", "8x4"
LAYOUTS = (SWIZZLED, SWIZZLED_8, LINEAR)
PATTERNS = {
    FP8: ("kARResidualRMSNormFP8Quant", "kARResidualRMSNormOutFP8Quant"),
    NVFP4: ("kARResidualRMSNormFP4Quant", "kARResidualRMSNormOutFP4Quant"),
    GROUP_FP8: (
        "kARResidualRMSNormPerTokenGroupFP8PackedQuant",
        "kARResidualRMSNormOutPerTokenGroupFP8PackedQuant",
    ),
    DYNAMIC_FP8: (
        "kARResidualRMSNormDynamicFP8Quant",
        "kARResidualRMSNormOutDynamicFP8Quant",
    ),
    MXFP8: ("kARResidualRMSNormMXFP8Quant", "kARResidualRMSNormOutMXFP8Quant"),
}
"""The pattern of each kind, and the one that writes the normed output as well."""
SCALED = (FP8, NVFP4)
"""Kinds that take a scale from the caller."""
BLOCKS = {NVFP4: 16, MXFP8: 32}
"""How many elements share a scale that is stored in a layout."""
KINDS = {name: kind for kind, names in PATTERNS.items() for name in names}
"""The kind of each quantised pattern."""
KNOWN_PATTERNS = (PLAIN_PATTERN, NORM_PATTERN, *MOE_PATTERNS, *KINDS)
"""All that an operation can be made for."""
