"""What must agree where texts and cells become columns: terms, blocks, widths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from untwin.data.encode import ROLES
from untwin.model.saving.agreement import require_parts
from untwin.store.refusal import require

if TYPE_CHECKING:
    from collections.abc import Callable


def _check_text_blocks(blocks: Any) -> None:
    """Refuse columns that are not those of the terms, each once."""
    require_parts(blocks.encoders, "Ways to count")
    counted = all(type(encoder).__name__ == "TextCounts" for encoder in blocks.encoders)
    require(counted, "Ways to count must count")
    columns: Any = getattr(blocks, "columns_", None)
    if columns is None:
        return
    sizes = [len(encoder.terms_) for encoder in blocks.encoders_]
    require([len(places) for places in columns] == sizes, "Each term must have a column")
    places = np.concatenate(columns)
    require(places.dtype.kind == "i" and np.array_equal(np.sort(places), np.arange(len(places))), "Columns must be all")
    block_of = blocks.block_of_
    sound = block_of.dtype == np.int8 and block_of.shape == places.shape
    require(sound and block_of.max(initial=0) < 2 * len(columns), "Each column must belong to its block")


def _check_text_features(features: Any) -> None:
    require_parts(features.encoders, "Ways to count")
    counted = all(type(encoder).__name__ == "TextCounts" for encoder in features.encoders)
    require(counted, "Ways to count must count")
    if hasattr(features, "weights_"):
        width, weights = len(features.blocks_.block_of_), features.weights_
        require(getattr(weights, "n_features_in_", None) == width, "Each term of a text must have a weight")


def _check_numbers(numbers: Any) -> None:
    """Refuse intervals and scores of different columns."""
    if hasattr(numbers, "scores_"):
        widths = {getattr(part, "n_features_in_", None) for part in (numbers.intervals_, numbers.scores_, numbers)}
        require(len(widths) == 1, "Intervals and scores must be of the same columns")


def _check_intervals(cuts: Any) -> None:
    for points in getattr(cuts, "cut_points_", ()):
        sound = points.ndim == 1 and points.dtype == np.float64 and bool(np.isfinite(points).all())
        require(sound and bool((np.diff(points) > 0).all()), "Cuts of a column must be numbers that rise")


def width_of(transformer: Any) -> int | None:
    """Return how many terms a transformer makes of a column; None if only it knows."""
    kind = type(transformer).__name__
    if kind == "NumbersAndIntervals":
        parts = [width_of(part) for part in (transformer.intervals_, transformer.scores_)]
        return sum(part or 0 for part in parts)
    if kind == "MDLPDiscretizer":
        sizes = [len(points) + 1 for points in transformer.cut_points_]
        sizes = [size + bool(missing) for size, missing in zip(sizes, transformer.has_missing_, strict=True)]
        kept = [size for size in sizes if size > (transformer.uncut == "drop")]
        return len(kept) if transformer.encode == "ordinal" else sum(kept)
    if kind == "StandardNumbers":
        return len(transformer.means_) + int(transformer.has_missing_.sum())
    if kind == "NominalValues":
        return len(transformer.frequent) + (len(transformer.rare) > 0) + bool(transformer.has_missing) + 1
    lengths: dict[str, Callable[[], int]] = {
        "Vectors": lambda: transformer.length,
        "TextCounts": lambda: len(transformer.terms_),
        "TextBlocks": lambda: len(transformer.block_of_),
        "TextFeatures": lambda: len(transformer.blocks_.block_of_),
    }
    return lengths[kind]() if kind in lengths else None


def _check_table_encoder(encoder: Any) -> None:
    """Refuse blocks that do not follow one another, each as wide as what its column becomes."""
    makers = (encoder.counts, encoder.discretizer)
    require(all(maker is None or hasattr(maker, "transform") for maker in makers), "Cells must be made terms")
    blocks: Any = getattr(encoder, "_blocks", None)
    if blocks is None:
        return
    names = [block.column for block in blocks]
    require(len(set(names)) == len(names) > 0, "A column must have one block")
    held = list(encoder.blocks_) == names == list(encoder.block_weights_)
    require(held, "Each block must have its columns and its weight")
    used = {use.name: use.role for use in encoder.columns_ if use.role in ROLES}
    require(used == {block.column: block.role for block in blocks}, "Each column that is used must have its block")
    require(set(names) <= set(np.asarray(encoder.feature_names_in_).tolist()), "Blocks must be of known columns")
    end = 0
    for block in blocks:
        wide, place = width_of(block.transformer), encoder.blocks_[block.column]
        whole = all(type(number) is int for number in (place.start, place.stop)) and place.step is None
        require(whole and place.start == end <= place.stop, "Blocks must follow one another")
        require(wide is None or place.stop - place.start == wide, "A block must be as wide as what its column becomes")
        end = place.stop


def _check_block(block: Any) -> None:
    require(block.role in ROLES, "A block must have a role")
    own = {"NominalValues": "nominal", "Vectors": "dense"}.get(type(block.transformer).__name__)
    require(own is None or own == block.role, "A block must be of its role")
    has = hasattr(block.transformer, "transform") and hasattr(block.transformer, "get_feature_names_out")
    require(has, "A block must have a transformer")


def _check_nominal(values: Any) -> None:
    names = [values.frequent, values.rare]
    require(all(part.dtype == pl.String and part.null_count() == 0 for part in names), "Names must be texts")
    require(pl.concat([part.alias("") for part in names]).is_unique().all(), "A name must occur once")


OF_COLUMNS: dict[str, Callable[[Any], None]] = {
    "block": _check_block,
    "mdlp-discretizer": _check_intervals,
    "nominal-values": _check_nominal,
    "numbers-and-intervals": _check_numbers,
    "table-encoder": _check_table_encoder,
    "text-blocks": _check_text_blocks,
    "text-features": _check_text_features,
}
