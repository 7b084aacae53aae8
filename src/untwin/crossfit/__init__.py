"""Out-of-fold answers: predictions of a classifier for rows that it was not trained on."""

from untwin.crossfit.outoffold import OutOfFold, out_of_fold, out_of_fold_confusion

__all__ = ["OutOfFold", "out_of_fold", "out_of_fold_confusion"]
