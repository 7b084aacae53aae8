"""The group of commands; a command's module is loaded when the command is called or helped with."""

from __future__ import annotations

from importlib import import_module

import click

from untwin import __version__

# name: where it lives, and its line in `untwin --help` (so that help loads no module)
COMMANDS = {
    "demo": ("untwin.cli.demo:demo", "The whole job on real text that is on every machine."),
    "check": ("untwin.cli.check:check", "Look at a table before a long run: columns, classes, duplicates, leaks."),
    "fit": ("untwin.cli.fit:fit", "Fit a model to a labelled table; writes the model and its report."),
    "evaluate": ("untwin.cli.evaluate:evaluate", "Score a model on labelled rows that it has not learnt."),
    "compare": ("untwin.cli.compare:compare", "What a new model, or new answers, get better and worse than the old."),
    "audit": ("untwin.cli.audit:audit", "All that follows from anybody's answers: confusions, twins, invented labels."),
    "predict": ("untwin.cli.predict:predict", "Answer rows: labels, probabilities, doubts, groups."),
    "explain": ("untwin.cli.explain:explain", "Say why one document is answered as it is."),
    "brief": ("untwin.cli.brief:brief", "What tells classes apart, for people who label and for language models."),
    "add": ("untwin.cli.add:add", "Teach a model more documents, words and classes."),
    "findings": ("untwin.cli.findings:findings", "What is odd about the labels, as text or as a table to edit."),
    "dismiss": ("untwin.cli.dismiss:dismiss", "Show a finding no more, with a reason."),
    "relabel": ("untwin.cli.relabel:relabel", "Correct the labels of training rows by a list."),
    "remove": ("untwin.cli.remove:remove", "Take training rows out of a model, with --erase for good."),
    "classes": ("untwin.cli.classes:classes", "List, merge, split, rename, retire classes; undo; history."),
    "report": ("untwin.cli.report:report", "Write the report of a model again."),
    "export": ("untwin.cli.export:export", "The part of a model that answers, as a small folder of its own."),
    "pack": ("untwin.cli.pack:pack", "A model as a single file, to be mailed."),
    "info": ("untwin.cli.info:info", "What a model holds: classes, documents, configuration, sizes."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and loads the one that is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="untwin")
def cli() -> None:
    """Tell near-twin classes apart.

    Exit codes: 0 done, 1 a gate failed or the data is wrong, 2 usage or unusable input, 3 model refused, 70 internal
    error, 130 interrupted, 143 and 129 ended by the system (SIGTERM, SIGHUP).
    """
