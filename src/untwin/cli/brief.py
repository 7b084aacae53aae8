"""`untwin brief`: what tells classes apart, for people who label and for language models."""

from __future__ import annotations

import click

from untwin.cli.options import common_options, say_idle
from untwin.cli.output import name_next, progress, put, put_json

FORMATS = ("md", "json", "prompt")


@click.command()
@click.argument("model")
@click.argument("classes", nargs=-1, metavar="[CLASS]...")
@click.option("--format", "shape", type=click.Choice(FORMATS), default="md", show_default=True, help="What to print.")
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="What a prompt may take, estimated.")
@click.option("--definitions", metavar="FILE", help="A JSON object with the definition of each class, by its name.")
@click.option("--without-texts", is_flag=True, help="Quote no text.")
@common_options
def brief(
    model: str,
    classes: tuple[str, ...],
    *,
    shape: str,
    max_tokens: int | None,
    definitions: str | None,
    without_texts: bool,
    seed: int,
    strict: bool,
    as_json: bool,
) -> int:
    """Say what tells the classes of MODEL apart, or those that are named: terms, contrasts, examples.

    All of it is counted on the training rows or quoted from them. Two classes stand side by side. --format prompt is
    for a language model that is to choose one of the classes, and fits into --max-tokens.
    """
    shape = "json" if as_json else shape
    if max_tokens is not None and shape != "prompt":
        raise click.UsageError("--max-tokens is for --format prompt.")
    say_idle("seed", "strict")
    from untwin.cli.definitions import read_definitions
    from untwin.model.briefs import brief as brief_of
    from untwin.model.saving import load_model

    with progress():
        given = None if definitions is None else read_definitions(definitions)
        made = brief_of(load_model(model, answers=False), classes or None, definitions=given, texts=not without_texts)
    if shape == "json":
        put_json({"model": model, **made.to_dict()})
    else:
        page = made.to_markdown() if shape == "md" else made.to_prompt(max_tokens)
        for line in page.splitlines():
            put(line)
    name_next(["explain", model, "--text", "TEXT"], ["report", model])
    return 0
