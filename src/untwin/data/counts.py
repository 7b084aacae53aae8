"""`TextCounts`: texts to a sparse matrix of counts, several times as fast as `CountVectorizer`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import polars as pl
import Stemmer
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from untwin._compat import Interval, StrOptions, follow_sparse_interface, inherited_tags, validating
from untwin.data.ngrams import count_inside, count_ngrams, spell_out
from untwin.data.symbols import BETWEEN_SPACES, WORDS_OF_TWO_OR_MORE, Characters, Words, rank_names
from untwin.data.texts import cleaner, text_blocks

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from untwin._types import Indices, Integers
    from untwin.data.ngrams import Level
    from untwin.data.symbols import SymbolBlock, Symbols

FEW = 100  # times as many terms as names to look up: then the names are hashed, and the terms only read


class EmptyVocabularyError(ValueError):
    """The texts hold nothing that would be counted."""


class TextCounts(BaseEstimator):
    r"""Count the words or character n-grams of texts.

    Options and defaults are those of scikit-learn's `CountVectorizer`, plus `stemmer`; on ASCII text vocabulary and
    matrix are the same. Texts are tokenised by Polars on all cores, block by block.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb"}, default="word"
        What is counted: words, characters, or characters inside words padded with spaces.
    ngram_range : tuple (min_n, max_n), default=(1, 1)
        Shortest and longest run of words or characters to count.
    lowercase : bool, default=True
        Fold case before tokenising.
    strip_accents : {"ascii", "unicode"}, callable or None, default=None
        Take accents off, after lower-casing.
    stop_words : {"english"}, collection of str or None, default=None
        Words left out, compared before stemming.
    token_pattern : str, default=r"(?u)\b\w\w+\b"
        What a word is, as a regular expression that Rust can run: no look-around, no back-reference, no empty match.
        With one capturing group the group is the word.
    min_df, max_df : int or float, default=1 and 1.0
        Leave out terms that occur in fewer, or in more, documents: a number, or a share as a float.
    max_features : int or None, default=None
        Keep only the most frequent terms.
    vocabulary : mapping, iterable or None, default=None
        The terms to count, instead of learning them.
    binary : bool, default=False
        Count presence only.
    dtype : dtype, default=numpy.int64
        Type of the counts.
    stemmer : str or None, default=None
        A Snowball language such as "english"; each distinct word is stemmed once.

    Attributes
    ----------
    terms_ : polars.Series
        The terms, in the order of the columns.
    vocabulary_ : dict
        The column of each term.

    Notes
    -----
    Differences from `CountVectorizer`, all outside ASCII: texts are brought to normal form C first, so that composed
    and decomposed accents are one word; ``\w`` and ``\b`` are Rust's: combining marks belong to words (Python ends a
    Devanagari word at each vowel sign, and Istanbul's dotted capital I after its first letter), fractions and
    superscripts such as one half do not. Missing texts and bytes are errors.

    Examples
    --------
    >>> from untwin import TextCounts
    >>> counts = TextCounts(stemmer="english", stop_words="english")
    >>> X = counts.fit_transform(["Cats and dogs", "The dog barks at the cat"])
    >>> counts.get_feature_names_out().tolist()
    ['bark', 'cat', 'dog']
    >>> X.toarray().tolist()
    [[0, 1, 1], [1, 1, 1]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "analyzer": [StrOptions({"word", "char", "char_wb"})],
        "ngram_range": [tuple],
        "lowercase": ["boolean"],
        "strip_accents": [StrOptions({"ascii", "unicode"}), None, callable],
        "stop_words": [StrOptions({"english"}), list, tuple, set, frozenset, None],
        "token_pattern": [str],
        "min_df": [Interval(Real, 0, 1, closed="both"), Interval(Integral, 1, None, closed="left")],
        "max_df": [Interval(Real, 0, 1, closed="both"), Interval(Integral, 1, None, closed="left")],
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
        "vocabulary": [Mapping, Iterable, None],
        "binary": ["boolean"],
        "dtype": "no_validation",  # type: ignore[dict-item]
        "stemmer": [StrOptions(set(Stemmer.algorithms())), None],
    }

    _column_of: pl.Enum | None = None  # the terms hashed, once they are looked up

    def __init__(
        self,
        *,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        strip_accents: Any = None,
        stop_words: str | Collection[str] | None = None,
        token_pattern: str = WORDS_OF_TWO_OR_MORE,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        vocabulary: Mapping[str, int] | Iterable[str] | None = None,
        binary: bool = False,
        dtype: Any = np.int64,
        stemmer: str | None = None,
    ) -> None:
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.binary = binary
        self.dtype = dtype
        self.stemmer = stemmer

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the terms of the texts `X`."""
        self.fit_transform(X)
        return self

    @validating
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the terms of the texts `X` and return their counts."""
        if self.vocabulary is not None:
            self._learn_terms(_given_terms(self.vocabulary))
            return self._look_up(X)
        found = self._count(X)
        terms, columns = rank_names(found.names)
        if not len(terms):
            raise EmptyVocabularyError(
                "Empty vocabulary: the texts hold only stop words, or nothing that token_pattern finds."
            )
        counts = self._assemble(found, columns, len(terms))
        kept = self._choose_columns(counts)
        self._learn_terms(terms.gather(kept))
        return follow_sparse_interface(counts if len(kept) == len(terms) else counts[:, kept])

    @validating
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn the new terms of more texts: old columns stay, new ones follow in sorted order.

        A new term enters when as many of these texts contain it as `min_df` asks for. `max_df` does not apply (a few
        texts say little about it), `max_features` limits the columns in all. The first call is `fit`.
        """
        if self.vocabulary is not None or not hasattr(self, "terms_"):
            return self.fit(X)
        found = self._count(X)
        terms, columns = rank_names(found.names)
        if not len(terms):
            return self
        counts = self._assemble(found, columns, len(terms))
        known = self._columns_of(terms) >= 0
        frequency = np.bincount(counts.indices, minlength=len(terms))
        entering = np.flatnonzero(~known & (frequency >= self._least(counts.shape[0])))
        if self.max_features is not None:
            entering = _most_frequent(counts, entering, max(0, self.max_features - len(self.terms_)))
        self._learn_terms(pl.concat([self.terms_, terms.gather(entering).alias("term")]))
        return self

    def transform(self, X: Any) -> Any:
        """Return the counts of the known terms in the texts `X`."""
        if self.vocabulary is not None and not hasattr(self, "terms_"):
            self._learn_terms(_given_terms(self.vocabulary))
        check_is_fitted(self, "terms_")
        return self._look_up(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the terms as an array of strings."""
        check_is_fitted(self, "terms_")
        return self.terms_.to_numpy().astype(object)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each term (made on demand: the estimator itself does not need it)."""
        check_is_fitted(self, "terms_")
        return dict(zip(self.terms_.to_list(), range(len(self.terms_)), strict=True))

    def _learn_terms(self, terms: pl.Series) -> None:
        self.terms_ = terms.alias("term")
        self._column_of = None

    def look_up(self, symbols: Symbols) -> Any:
        """Return the counts of the known terms in texts that have been read by `reader` already."""
        return self._assemble_known(self._count_symbols(symbols))

    def _look_up(self, texts: Any) -> Any:
        return self._assemble_known(self._count(texts))

    def _assemble_known(self, found: _Found) -> Any:
        return follow_sparse_interface(self._assemble(found, self._columns_of(found.names), len(self.terms_)))

    def _columns_of(self, names: pl.Series) -> Integers:
        """Return the column of each term by its name; -1: not known."""
        if FEW * len(names) < len(self.terms_):  # hashing all terms, even once, would take longer
            columns = self.terms_.is_in(names.implode()).arg_true()
            there = pl.DataFrame({"term": self.terms_.gather(columns), "column": columns.cast(pl.Int64)})
            asked = pl.DataFrame({"term": names})
            found = asked.join(there, on="term", how="left", maintain_order="left")["column"]
        else:
            if self._column_of is None:
                self._column_of = pl.Enum(self.terms_)  # holds the terms hashed: looking names up is a cast
            found = names.cast(self._column_of, strict=False).to_physical().cast(pl.Int64)
        return found.fill_null(-1).to_numpy()

    def _count(self, texts: Any) -> _Found:
        clean = cleaner(lowercase=self.lowercase, strip_accents=self.strip_accents)
        return self._count_symbols(self.reader.read(text_blocks(texts), clean))

    def _count_symbols(self, symbols: Symbols) -> _Found:
        lengths = _check_range(self.ngram_range)
        if self.analyzer == "char_wb":
            return _look_inside(symbols, *lengths)
        levels = count_ngrams(symbols, *lengths)
        return _Found(levels, pl.concat(spell_out(levels, symbols.names, self.reader.separator)))

    @property
    def reader(self) -> Words | Characters:
        """What turns texts into symbols."""
        if self.analyzer == "char":
            return Characters()
        if self.analyzer == "char_wb":
            return Words(BETWEEN_SPACES)
        return Words(self.token_pattern, _stop_words(self.stop_words), self.stemmer)

    def _assemble(self, found: _Found, columns: Integers, n_terms: int) -> csr_array:
        """Put the counts of all blocks and lengths into one matrix; column -1 is left out."""
        if found.words is None:
            counts = _join_levels(found.levels, columns, n_terms, self.dtype)
        else:
            counts = count_inside(found.words, _join_levels(found.levels, columns, n_terms, np.int32), self.dtype)
        if self.binary:
            counts.data.fill(1)
        return counts

    def _choose_columns(self, counts: csr_array) -> Indices:
        """Choose columns by document frequency and number as `CountVectorizer` does, ties included."""
        n_documents = counts.shape[0]
        most = self.max_df if isinstance(self.max_df, Integral) else self.max_df * n_documents
        least = self._least(n_documents)
        if most < least:
            raise ValueError("max_df corresponds to fewer documents than min_df.")
        frequency = np.bincount(counts.indices, minlength=counts.shape[1])
        kept = np.flatnonzero((frequency >= least) & (frequency <= most))
        if self.max_features is not None:
            kept = _most_frequent(counts, kept, self.max_features)
        if not len(kept):
            raise EmptyVocabularyError("After pruning, no terms remain. Try a lower min_df or a higher max_df.")
        return kept

    def _least(self, n_documents: int) -> float:
        """Return in how many of so many documents a term must occur."""
        return self.min_df if isinstance(self.min_df, Integral) else self.min_df * n_documents

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _stop_words(given: str | Collection[str] | None) -> Collection[str]:
    if given != "english":
        return given or ()
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # rarely needed, slow to load

    return ENGLISH_STOP_WORDS


@dataclass(frozen=True, slots=True)
class _Found:
    """The counted n-grams, length by length, with the names of them all.

    Where `words` holds the words of each text, the n-grams are counted in each distinct word, not in each text.
    """

    levels: list[Level]
    names: pl.Series
    words: list[SymbolBlock] | None = None


def _look_inside(words: Symbols, shortest: int, longest: int) -> _Found:
    """Count the characters inside words once for each distinct word: most words occur many times."""
    padded = pl.select(pl.concat_str(pl.lit(" "), words.names, pl.lit(" "))).to_series()
    characters = Characters().read(text_blocks(padded), lambda block: block)
    levels = count_ngrams(characters, shortest, longest, short_texts=True)
    return _Found(levels, pl.concat(spell_out(levels, characters.names, "")), words.blocks)


def _join_levels(levels: list[Level], columns: Integers, n_terms: int, dtype: Any) -> csr_array:
    shape = (sum(len(part.per_row) for part in levels[0].cells), n_terms)
    counts = csr_array(shape, dtype=dtype)
    offset = 0
    for level in levels:
        places = columns[offset : offset + len(level.symbols)]
        offset += len(level.symbols)
        part = level.matrix(places, shape, dtype)
        counts = part if counts.nnz == 0 else counts + part
    return counts


def _most_frequent(counts: csr_array, columns: Indices, number: int) -> Indices:
    """Return the columns with the largest sums, in their order; all of them if there are no more."""
    if len(columns) <= number:
        return columns
    totals = np.asarray(counts.sum(axis=0)).ravel()[columns]
    return np.sort(columns[(-totals).argsort()[:number]])


def _check_range(ngram_range: tuple[int, int]) -> tuple[int, int]:
    shortest, longest = ngram_range
    if not 1 <= shortest <= longest:
        raise ValueError(f"ngram_range must be (min_n, max_n) with 1 <= min_n <= max_n. Got {ngram_range} instead.")
    return shortest, longest


def _given_terms(vocabulary: Mapping[str, int] | Iterable[str]) -> pl.Series:
    if isinstance(vocabulary, Mapping):
        terms = sorted(vocabulary, key=vocabulary.__getitem__)
        if sorted(vocabulary.values()) != list(range(len(terms))):
            raise ValueError("vocabulary must number its terms 0, 1, 2, ... without gaps or repetitions.")
    else:
        terms = sorted(vocabulary) if isinstance(vocabulary, set | frozenset) else list(vocabulary)
    if not terms:
        raise ValueError("vocabulary must not be empty.")
    column = pl.concat(list(text_blocks(terms)))
    if column.n_unique() < len(column):
        raise ValueError(f"Duplicate term in vocabulary: {column.filter(column.is_duplicated())[0]!r}")
    return column
