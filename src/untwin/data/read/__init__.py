"""Reading tables: any labelled file or folder as text cells, without harm to its labels.

There is one way to read: batch by batch, in memory that does not depend on how long a table is (`read_batches`). A
table that is wanted whole is gathered from its batches (`read_table`): both refuse the same files for the same reasons.
"""

from untwin.data.read.batching import TableBatch, format_of, read_batches, read_table
from untwin.data.read.table import RawTable, ReadOptions

__all__ = ["RawTable", "ReadOptions", "TableBatch", "format_of", "read_batches", "read_table"]
