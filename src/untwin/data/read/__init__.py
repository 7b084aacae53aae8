"""Reading tables: any labelled file or folder as text cells, without harm to its labels."""

from __future__ import annotations

from pathlib import Path

from untwin._errors import InputError
from untwin._progress import report
from untwin.data.read.delimited import read_delimited
from untwin.data.read.folder import read_folder
from untwin.data.read.jsonl import read_jsonl
from untwin.data.read.parquet import read_parquet
from untwin.data.read.source import STDIN, read_bytes, read_text, refuse_spreadsheet
from untwin.data.read.table import RawTable, ReadOptions

__all__ = ["RawTable", "ReadOptions", "read_table"]

_FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_SPREADSHEETS = {".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"}


def read_table(source: str | Path, *, options: ReadOptions | None = None) -> RawTable:
    r"""Return the table in a file, a folder or (``-``) standard input, every cell as text.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tickets.csv"
    ...     _ = path.write_text("text,label\nno signal,NA\nbattery flat,01\n")
    ...     read_table(path).frame["label"].to_list()
    ['NA', '01']
    """
    options = options or ReadOptions()
    path = Path(source)
    name = "stdin" if str(source) == STDIN else str(source)
    if name != "stdin" and not path.exists():
        hint = f"Check the path; the current directory is {Path.cwd()}."
        raise InputError(f"{name}: there is no such file or folder.", code="not-found", hint=hint)
    report(f"reading {name}", 0, 1)
    table = read_folder(path, options.encoding) if path.is_dir() else _read_file(path, name, options)
    if table.frame.height == 0:
        hint = "Give at least one row for each of two classes."
        raise InputError(f"{name}: there is a header but no rows.", code="no-rows", hint=hint)
    report(f"reading {name}", 1, 1)
    return table if options.limit is None else table.head(options.limit)


def _read_file(path: Path, name: str, options: ReadOptions) -> RawTable:
    kind = options.format or format_by_name(path, name)
    if kind == "parquet":
        return read_parquet(read_bytes(path, name), name)
    data = read_text(path, name, options.encoding)
    if kind == "jsonl":
        return read_jsonl(data, name, options.skip_bad_rows)
    return read_delimited(data, name, kind, options.separator, options.skip_bad_rows)


def format_by_name(path: Path, name: str) -> str:
    """Return the format that the name of a file tells."""
    hint = "Say --format csv, tsv or jsonl."
    if name == "stdin":
        raise InputError("The format of standard input is unknown.", code="format", hint=hint)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    ending = next((suffix for suffix in reversed(suffixes) if suffix != ".gz"), "")
    if ending in _SPREADSHEETS:
        refuse_spreadsheet(name)
    if ending not in _FORMATS:
        known = ", ".join(_FORMATS)
        raise InputError(f"{name}: the format cannot be told from its name ({known}).", code="format", hint=hint)
    return _FORMATS[ending]
