"""Where the supported versions of torch differ: everything else asks here, not for versions."""

GENERATED_CODE = ("<eval_with_key>", "fx_generated_")
"""How the file names of code that torch.fx generates begin, in any version."""
