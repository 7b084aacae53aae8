"""The front door: everything public is there, and opening it costs nothing."""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import untwin


@pytest.mark.parametrize("name", untwin.__all__)
def test_every_public_name_is_there(name):
    assert getattr(untwin, name) is not None


def test_public_names_have_a_home():
    assert {*untwin._HOME, "__version__"} == set(untwin.__all__) == set(dir(untwin))


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        untwin.nothing  # noqa: B018


def test_importing_untwin_imports_no_numpy():
    code = "import sys, untwin; print(sorted({'numpy', 'scipy', 'sklearn', 'polars'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_two_classes_share_a_name():
    sources = sorted(Path(untwin.__file__).parent.rglob("*.py"))
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in sources)
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert names["UntwinClassifier"] == 1
    assert [name for name, times in names.items() if times > 1] == []
