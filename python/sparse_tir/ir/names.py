"""Every string that other code may meet; the same as src/ir/names.h."""

AXES = "sparse_tir.axes"
BUFFERS = "sparse_tir.buffers"
STAGE = "sparse_tir.stage"
COORDINATE_STAGE = "coordinate"
POSITION_STAGE = "position"
STORAGE = "sparse_tir.storage"
COMBINE = "sparse_tir.combine"
OWNED = "sparse_tir.owned"
SEARCH = "sparse_tir.search"
COVER = "sparse_tir.cover"

#: The op that binds an iterator which is not lowered yet. No code generator knows it.
POSITION_OP = "sparse_tir.position"
