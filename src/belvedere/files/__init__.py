"""Scripts and other files, versioned by content.

`service` has the operations and `store` the rows. Contents are shared by their SHA-256, and
`blob_sweep` deletes those that nothing uses. `quota` limits what an organization stores.
"""

from belvedere.files.model import FileRow
from belvedere.files.service import FileChange, create
from belvedere.files.store import content_of, part_of, size_of, sizes_of, store_content

__all__ = [
    "FileChange",
    "FileRow",
    "content_of",
    "create",
    "part_of",
    "size_of",
    "sizes_of",
    "store_content",
]
