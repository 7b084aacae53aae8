"""What the arrays and values of each kind must be: a table, which `shapes` reads.

Syntax of the table: `name: what[sizes] conditions`, separated by semicolons.

what         floats, single (precision), whole (numbers), flags, numbers, labels: arrays; `csr_` before it: CSR, `any_`:
             either; int, float, bool, text: values; list, tuple, dict: collections; or the name of a class, or several
?            after it: may be None
sizes        one for each axis: a number, a name that stands for the same size in the whole instance, `name-1`, `out`
             (columns of a linear model: one for up to two classes, else C), `*` for any
conditions   >=0, >0, <C (a size or a number), rising, nan (may be missing), of A|B (classes of what a collection holds)
"""

from __future__ import annotations

SHAPES: dict[str, str] = {
    "tf-idf": "idf: floats[m]",
    "complement-nb": "classes: labels[C] rising; class_count: floats[C] >=0; class_log_prior: floats[C]; "
    "feature_all: floats[m]; feature_count: floats[C m]; feature_log_prob: floats[C m]",
    "standard-scaler": "mean: floats?[m]; n_samples_seen: float|ndarray; scale: floats?[m] >0; var: floats?[m] >=0",
    "linear-svc": "classes: labels[C] rising; coef: floats[out m]; intercept: floats|float[out]; n_iter: int",
    "adaptive-sprinkling": "classes: labels[C] rising; terms: any_floats[n m]; choices: Choices; "
    "confusion: Confusion; confusion_after: Confusion; fitted_plan: SprinklingPlan?",
    "choices": "trials: tuple of Trial",
    "trial": "representation: Representation; confusion: Confusion",
    "representation": "terms: text; strength: float?; n_components: int? >=1; scores: text",
    "centroid": "classes: labels[C] rising; centroids: any_floats[C m]",
    "expert": "classes: whole[k] >=0 rising; terms: whole[t] >=0 rising; coef: any_floats?[t out_k]; "
    "intercept: floats?[out_k]; softmax: bool",
    "blend": "expert: float; base: float",
    "graph-classifier": "classes: labels[C] rising; changes: list of Change; confusion: Confusion; "
    "graph: ConfusionGraph; experts: ClassPanel|SubgraphPanel|PairPanel; fitted_blend: Blend; "
    "sweep: list of SweepRow; n_experts: int >=0; n_numbers: int >=0; upper_bound: float >=0; "
    "fitted_threshold: float? >=0",
    "change": "corrected: int >=0; broke: int >=0; neither: int >=0",
    "sweep-row": "threshold: float? >=0; n_edges: int >=0; mean_candidates: float >=0; upper_bound: float >=0",
    "pair-panel": "experts: list[e] of Expert; number: csr_whole[C C] >=0 <=e; rule: text",
    "class-panel": "experts: list of Expert",
    "subgraph-panel": "experts: list of Expert",
    "knn": "Y: csr_floats[n C] >=0; all_labelled: bool; multilabel: bool; among: Searchable; recent: Searchable?; "
    "class_prior: floats[C] >=0; classes: labels[C] rising; grades: whole?[C] >=0 <C; ids: whole[n] >=0 rising; "
    "n_arrived: int >=n; fitted_n_neighbors: int >=1 <=n; cv_scores: dict; label_dtype: Dtype",
    "searchable": "rows: any_floats[n m]; norms: floats[n] >=0; dense: floats[n c]; common: whole?[c] >=0 <m rising; "
    "sparse: csr_floats?[r n]; rare: whole?[r] >=0 <m rising; n_terms: int >=0 <=m; metric: text",
    "kept-rows": "X: csr_floats[n m]; y: labels[n]; keys: floats[n]; n_seen: int >=n",
    "class-space": "terms: any_floats[m C]; directions: floats[C r]; class_vectors: floats[C r]; "
    "singular_values: floats[r] >0",
    "class-sums": "sums: csr_floats[C m]; sizes: floats[C] >=0; squares: floats[C] >=0; totals: floats[m] >=0; "
    "classes: labels[C] rising",
    "latent-class": "kept: KeptRows; space: ClassSpace; sums: ClassSums; class_vectors: floats[C r]; "
    "classes: labels[C] rising; indistinguishable: tuple of Indistinguishable; singular_values: floats[r] >0; "
    "temperature: float >0",
    "indistinguishable": "kind: text; classes: tuple[k]; weights: tuple[k] of float; singular_value: float >=0",
    "naive-bayes": "classes: labels[C] rising; weights: any_single[m C]; intercept: single[C]; offsets: single[C]",
    "linear-svm": "classes: labels[C] rising; weights: any_single[m out]; intercept: single[out]",
    "resume-point": "alpha: csr_single?[k n] >=0; weights: single?[m k]",
    "logistic-model": "classes: labels[C] rising; weights: any_single[m out]; intercept: single[out]",
    "stacked": "classes: labels[C] rising; models: list; temperatures: floats[b] >0; second: LinearSVM?",
    "multi-level": "classes: labels[C] rising; fitted_groups: list of tuple; hierarchies: list of Hierarchy; "
    "judged: tuple?[2] of ndarray; temperature: float >0; trees: list of ExpertTree",
    "expert-tree": "branches: tuple[b] of Branch; experts: tuple[b] of Expert",
    "branch": "classes: whole[k] >=0 rising; child: whole[k] >=0 <j; below: whole[j] >=-1",
    "out-of-fold": "confusion: Confusion; fold_confusions: tuple of Confusion; predictions: labels[n]; "
    "scores: floats?[n C] nan; folds: whole[n] >=-1; small_classes: tuple",
    "block": "column: text; role: text",
    "nominal-values": "min_count: int >=1; frequent: Series; rare: Series; has_missing: bool",
    "vectors": "length: int >=0",
    "text-blocks": "fitted_encoders: list[b] of TextCounts; columns: list[b] of ndarray; block_of: whole[m] >=0",
    "numbers-and-intervals": "intervals: MDLPDiscretizer; scores: StandardNumbers",
    "text-counts": "terms: Series",
    "mdlp-discretizer": "classes: labels[C] rising; cut_points: list[m] of ndarray; has_missing: flags[m]",
    "table-encoder": "blocks: list[b] of ColumnBlock; fitted_block_weights: dict[b] of float; "
    "fitted_blocks: dict[b] of slice; columns: tuple of ColumnUse",
    "column-use": "name: text; role: text; reason: text; code: text",
    "standard-numbers": "has_missing: flags[m]; means: floats[m]; scales: floats[m] >0",
    "drift": "baseline: float; limit: float >0",
    "truncated-svd": "U: floats[* k]; S: floats[*] >=0; V: floats[* k]",
    "model": "calibration_error: float >=0; candidates: list of Candidate; groups: list of tuple; "
    "scores: dict of float; classes: labels[C] rising; confusion: Confusion; graph: ConfusionGraph; "
    "hierarchy: Hierarchy; state: FittedState; plan: SprinklingPlan; noted: dict; threshold: float nan; "
    "history: ClassHistory?",
    "class-history": "lines: list of str; log: text; sequence: int >=0",
    "candidate": "name: text; score: float?; accuracy: float?; low: float?; high: float?; gain: float?; "
    "gain_low: float?; gain_high: float?; seconds: float >=0; chosen: bool; note: text",
    "member": "name: text; temperature: float >0",
    "similar-terms": "term: text; before: tuple of str; after: tuple of str",
    "space-curves": "n_rows: int >=0; raw: float; dimensions: tuple[d] of int; lsi: tuple[d] of float; "
    "sprinkled: tuple[d] of float; n_components: int >=1; strengths: tuple[s] of float; "
    "separation: tuple[s] of float; error: tuple[s] of float; similar: tuple of SimilarTerms; before: Confusion; "
    "after: Confusion",
    "finding": "code: text; title: text; evidence: tuple of dict; advice: text; severity: text",
    "best-scores": "n_classes: int >=1; places: whole[n k] >=0 <n_classes; values: single[n k] nan <=1; "
    "rest: single[n] nan <=1",
    "out-of-fold-answers": "classes: labels[C] rising; rows: whole[n] >=0 rising; true: whole[n] >=0 <C; "
    "said: whole[n] >=-1 <C; scores: BestScores; folds: whole[n] >=-1 <=n",
    "fitted-state": "view: View; ensemble: Ensemble; answers: OutOfFoldAnswers; y: labels[n]; ids: labels[n]; "
    "n_arrived: int >=n; kept: text; learning: LearningState?",
    "learning-state": "parts: whole[n] >=-1; points: tuple of ResumePoint; changed: int >=0; uncalibrated: int >=0",
    "ensemble": "members: tuple of Member; temperature: float >0; classes: labels[C] rising; "
    "top_class: TopClassCalibration; trained: labels?[T] rising; redirect: Redirect?",
    "redirect": "heirs: whole[T] >=-1; own: whole[C] >=0",
    "top-class-calibration": "slope: float; shift: float",
    "unknown-chance": "slope: float >=0; shift: float",
    "view": "name: text; given: list|ndarray|csr_array|csr_matrix|DataFrame?; counted: csr_numbers?[n m] >=0; "
    "recounts: bool",
    "standard": "mean: floats[C]; spread: floats[C] >0; lowest: floats[C]",
    "term-weights": "idf: single[m] >=0",
    "text-features": "blocks: TextBlocks; weights: TermWeights",
    "learnt-matrix": "X: any_floats[n m]; Y: csr_floats[n C]; F: csr_floats[C r]; classes: labels[C]; "
    "background: csr_floats[b m]; svd: TruncatedSVD; is_document: flags[N]; ids: whole[*] >=0 rising; "
    "n_arrived: int >=n; k: int >=0; drift: DriftRule?; n_updates: int >=0; waiting: tuple of tuple",
    "score-space": "classes: labels[C] rising; out_of_fold: OutOfFold; standard: Standard; temperature: float? >0",
    "sprinkled-lsi": "learnt: LearntMatrix; turn: floats[* k]; classes: labels[C]; components: floats[k m]; "
    "discarded_energy: float; n_updates: int >=0; fitted_plan: SprinklingPlan?; singular_values: floats[k] >=0; "
    "whitening: floats[k *]",
    "supervised-weights": "classes: labels[C] rising; contingency: Contingency; kept: whole[*] >=0 <m; "
    "weights: floats[m]",
    "confusion-graph": "incidence: csr_floats[C C] >=0 <=1; classes: labels[C]; threshold: float >=0 <1",
    "group-range": "n_groups: int >=1; low: int >=1; high: int >=1",
    "hierarchy": "classes: labels[C] rising; merges: whole[C-1 2]; heights: floats[C-1] >=0; linkage: text; "
    "metric: str?; confusion: Confusion?",
    "sprinkling-plan": "kind: text; kernel: csr_floats?[C C]; classes: labels?[C]; strength: float >=0; "
    "target: float? >=0",
    "confusion": "counts: csr_numbers[C C] >=0; classes: labels[C]",
    "contingency": "class_sizes: whole[C] >=0; classes: labels[C]; documents: csr_whole[C m] >=0; "
    "n_documents: int >=0; occurrences: csr_whole[C m] >=0; term_documents: whole[m] >=0; terms: labels?[m]",
}
