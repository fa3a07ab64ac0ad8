"""checkpoint's names under JAX's module name: what policies say, and what is saved."""

from celadon.transforms.recompute import checkpoint as checkpoint, print_saved_residuals as print_saved_residuals, remat as remat
from celadon.transforms.saving import (
    Offloadable as Offloadable,
    Recompute as Recompute,
    Saveable as Saveable,
    checkpoint_name as checkpoint_name,
    checkpoint_policies as checkpoint_policies,
)
