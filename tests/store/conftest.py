"""The helpers that stand beside the tests of the store, as fixtures (tests are no package)."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest


def helper(name):
    spec = spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def sample_parts():
    """Parts of every kind, as a function of a seed."""
    return helper("sample").sample_parts


@pytest.fixture(scope="session")
def same():
    """Whether two parts are equal in every bit."""
    return helper("sample").same


@pytest.fixture(scope="session")
def damage():
    """Harm a model directory: a function of the folder and a random generator."""
    return helper("damage").damage


@pytest.fixture(scope="session")
def steps():
    """Stop a save at any of its steps."""
    return helper("steps")
