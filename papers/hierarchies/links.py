"""Paper 2's directory: links that a tree of topics cannot show, and parents that compete with their children.

`JUDGED` holds what somebody who knows the lists says about the links that the full run shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from papers.experiment import verdict
from untwin._values import positions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from papers.experiment import Verdict
    from papers.hierarchies.trees import Grown

AREA_END = "/"  # of the name of a topic area that competes with its lists
GOOD, DOUBTFUL = "a good link", "not a link to show"
JUDGED: dict[tuple[str, str], tuple[str, str]] = {
    ("Hyraze/ai-collective-tools", "Hyraze/collective-ai-tools"): (GOOD, "one list under two names: better merged"),
    ("awesome-foss/awesome-sysadmin", "awesome-selfhosted/awesome-selfhosted"): (
        GOOD,
        "software for one's own servers",
    ),
    ("josephmisiti/awesome-machine-learning", "krzjoa/awesome-python-data-science"): (GOOD, "the same libraries"),
    ("newTendermint/awesome-bigdata", "rayokota/awesome-hbase"): (GOOD, "HBase is a store for big data"),
    ("Awesome-Windows/Awesome", "jaywcjlove/awesome-mac"): (GOOD, "programs for the desktop, on two systems"),
    ("RichardLitt/awesome-fantasy", "avelino/awesome-go"): (
        DOUBTFUL,
        "titles of books hold no known words, and the largest list takes what is left",
    ),
    ("hothero/awesome-rails-gem", "markets/awesome-ruby"): (GOOD, "gems for Rails are gems for Ruby"),
    ("chentsulin/awesome-graphql", "expede/awesome-relay"): (GOOD, "Relay is a client for GraphQL"),
    ("ebu/awesome-broadcasting", "krzemienski/awesome-video"): (GOOD, "coding and streaming of video"),
    ("matteocrippa/awesome-swift", "vsouza/awesome-ios"): (GOOD, "the language and its platform"),
    ("filipecalegario/awesome-generative-deep-art", "kimtth/awesome-azure-openai-llm"): (GOOD, "generative models"),
    ("catdevnull/awesome-zig", "zigcc/awesome-zig"): (GOOD, "two lists about Zig: better merged"),
    ("EbookFoundation/free-programming-books", "NARKOZ/guides"): (GOOD, "both teach programming"),
    ("glauberfc/awesome-react-hooks", "jondot/awesome-react-native"): (GOOD, "both are about React"),
    ("petk/awesome-jquery", "sorrycc/awesome-javascript"): (GOOD, "the library and its language"),
    ("kdeldycke/awesome-engineering-team-management", "santiagoxlopez/awesome-project-management"): (
        GOOD,
        "leading projects and those who do them",
    ),
    ("filipecalegario/awesome-generative-deep-art", "mahseema/awesome-ai-tools"): (GOOD, "tools that make pictures"),
    ("elyase/awesome-gpt3", "filipecalegario/awesome-generative-deep-art"): (GOOD, "generative models"),
    ("avelino/awesome-go", "uralbash/awesome-pyramid"): (DOUBTFUL, "a framework for Python, taken by the largest list"),
    ("bystritskiy/awesome-ios-books", "vsouza/awesome-ios"): (GOOD, "books about the platform"),
    ("desireevl/awesome-quantum-computing", "ebraminio/awesome-qsharp"): (
        GOOD,
        "Q# is a language for quantum computers",
    ),
    ("shuaibiyy/awesome-terraform", "virtualroot/awesome-opentofu"): (GOOD, "OpenTofu grew out of Terraform"),
    ("agucova/awesome-esp", "mcauser/awesome-micropython"): (GOOD, "the same microcontrollers"),
    ("eug/awesome-opengl", "stevinz/awesome-game-engine-dev"): (GOOD, "graphics programming"),
    ("inputsh/awesome-linux", "toolleeo/awesome-cli-apps-in-a-csv"): (GOOD, "programs for the terminal"),
}


def soft_links(found: Grown, top: int) -> list[dict[str, Any]]:
    """Return the strongest links between lists of different areas, with a judgement where there is one."""
    parents = found.collection.parents or {}
    rows = []
    for link in found.tree.also_see(parents, top=top):
        judged, why = JUDGED.get((link.a, link.b), ("not judged", ""))
        rows.append(
            {
                "list": link.a,
                "area": link.known_a,
                "also see": link.b,
                "its area": link.known_b,
                "confused": link.mutual_complexity,
                "judged": judged,
                "because": why,
            }
        )
    return rows


def parents_and_children(found: Grown) -> dict[str, Any]:
    """Return how near the areas that compete as classes lie to their own lists."""
    confusion, parents = found.confusion, found.collection.parents or {}
    names: list[str] = confusion.classes.tolist()
    areas = [name for name in names if name.endswith(AREA_END)]
    family = np.array([parents[name] for name in names])
    rates = confusion.rates.toarray()
    np.fill_diagonal(rates, -1.0)
    heights = found.tree.cophenetic()[np.ix_(*[positions(confusion.classes, found.tree.classes)] * 2)]
    np.fill_diagonal(heights, np.inf)
    here = positions(areas, confusion.classes)
    taken_for_child = [family[rates[row].argmax()] == family[row] for row in here]
    nearest_is_child = [family[heights[row].argmin()] == family[row] for row in here]
    by_chance = float(np.mean([_others(family, row) for row in here]))
    return {
        "areas": len(areas),
        "classes": len(names),
        "flat accuracy": found.accuracy,
        "most often taken for an own list": float(np.mean(taken_for_child)),
        "joins an own list first": float(np.mean(nearest_is_child)),
        "by chance": by_chance,
        "recall of areas": float(confusion.recall[here].mean()),
        "recall of lists": float(np.delete(confusion.recall, here).mean()),
    }


def _others(family: Any, row: int) -> float:
    """Return the share of the other classes that are of the family of `row`."""
    return float(((family == family[row]).sum() - 1) / (len(family) - 1))


def judgement(rows: Iterable[dict[str, Any]]) -> tuple[Verdict, str]:
    """Say how many links are good."""
    words = [row["judged"] for row in rows]
    judged = [word == GOOD for word in words if word in (GOOD, DOUBTFUL)]
    told = f"{sum(judged)} of {len(judged)} links judged are good; {len(words) - len(judged)} are not judged"
    return (verdict(judged) if judged else "not judged"), told
