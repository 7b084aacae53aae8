"""Real texts that are on every machine: the documentation of the packages untwin is built on.

A text is the documentation string of a public object; its class is the sub-package the object lives in. Near-twins come
for free: `numpy` and `numpy.ma`, `scipy.fft` and `scipy.fftpack`, `polars.dataframe` and `polars.lazyframe`.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
import warnings
from importlib import import_module
from typing import TYPE_CHECKING

import polars as pl

from untwin._progress import report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

PACKAGES = ("numpy", "scipy", "sklearn", "polars")
SMALLEST_CLASS = 20
SMALLEST_TEXT = 40
# Not about what the package does, or thousands of signatures without a sentence (the BLAS and LAPACK wrappers).
LEFT_OUT = {"tests", "testing", "conftest", "externals", "f2py", "distutils", "typing", "exceptions", "blas", "lapack"}

# From a heading "Examples" to the next underlined heading, or to the end.
EXAMPLES = re.compile(r"^\s*Examples?\s*\n\s*-{3,}.*?(?=^\s*\w[\w ]*\n\s*-{3,}|\Z)", re.DOTALL | re.MULTILINE)
PROMPTS = re.compile(r"^\s*(?:>>>|\.\.\.).*$", re.MULTILINE)


def demo_texts() -> pl.DataFrame:
    """Return the demo as a frame with columns id, text and label; the same for the same package versions."""
    modules = []
    for number, package in enumerate(PACKAGES):
        report("gathering texts", number, len(PACKAGES))
        modules += [(package, module) for module in _public_modules(package, depth=2)]
    report("gathering texts", len(PACKAGES), len(PACKAGES))
    # Only now: importing SciPy edits some of NumPy's documentation.
    objects: dict[str, str] = {}
    for package, module in modules:
        objects = dict(_find_documented(module, package)) | objects
    frame = pl.DataFrame(
        {"id": list(objects), "text": list(objects.values()), "label": [_label(path) for path in objects]}
    ).sort("id")
    frame = frame.with_columns(_without_names(frame["text"], frame["label"]))
    frame = frame.filter(pl.col("text").str.len_chars() >= SMALLEST_TEXT).unique(
        "text", keep="first", maintain_order=True
    )
    return frame.filter(pl.len().over("label") >= SMALLEST_CLASS)


def _public_modules(name: str, depth: int) -> Iterator[ModuleType]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = import_module(name)
    except ImportError:  # a part that needs something optional
        return
    yield module
    if depth and hasattr(module, "__path__"):
        for found in pkgutil.iter_modules(module.__path__):
            if not found.name.startswith("_") and found.name not in LEFT_OUT:
                yield from _public_modules(f"{name}.{found.name}", depth - 1)


def _find_documented(module: ModuleType, package: str) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the public objects of a module and of the public members of its classes."""
    for name, thing in sorted(vars(module).items()):
        home = str(getattr(thing, "__module__", None) or module.__name__)
        if name.startswith("_") or inspect.ismodule(thing) or not callable(thing) or _package(home) != package:
            continue
        path = f"{_public(home)}.{name}"
        yield path, _prose(thing)
        if inspect.isclass(thing):
            members = sorted(item for item in vars(thing).items() if not item[0].startswith("_"))
            yield from ((f"{path}.{member}", _prose(value)) for member, value in members)


def _prose(thing: object) -> str:
    """Return what the documentation says in words: no examples, no code."""
    text = thing.__doc__
    if not isinstance(text, str):
        return ""
    return PROMPTS.sub("", EXAMPLES.sub("", inspect.cleandoc(text)))


def _package(module: str) -> str:
    return module.partition(".")[0]


def _public(module: str) -> str:
    """Return the public part of a module's name: `scipy.linalg._basic` lives in `scipy.linalg`.

    >>> _public("scipy.linalg._basic")
    'scipy.linalg'
    """
    parts = module.split(".")
    private = next((place for place, part in enumerate(parts) if part.startswith("_")), len(parts))
    return ".".join(parts[: min(private, 2)])


def _label(path: str) -> str:
    """Return package and sub-package of an object; an object of the package itself has the package as label.

    >>> _label("scipy.fft.fft2"), _label("numpy.add"), _label("numpy.ndarray.sum")
    ('scipy.fft', 'numpy', 'numpy')
    """
    package, *inner = path.split(".")
    return f"{package}.{inner[0]}" if len(inner) > 1 and _is_module(package, inner[0]) else package


def _is_module(package: str, name: str) -> bool:
    return inspect.ismodule(getattr(import_module(package), name, None))


def _without_names(texts: pl.Series, labels: pl.Series) -> pl.Series:
    """Strike dotted module names, and every word that is part of any label, so that no text names its class."""
    words = sorted({word for label in labels.unique().to_list() for word in label.split(".")} | {"np", "pl"}, key=len)
    packages = "|".join((*PACKAGES, "np", "pl"))
    dotted = rf"\b(?:{packages})(?:\.\w+)+\b"
    alone = rf"(?i)\b(?:{'|'.join(reversed(words))})\b"
    return texts.str.replace_all(dotted, " ").str.replace_all(alone, " ").str.replace_all(r"\s+", " ").str.strip_chars()
