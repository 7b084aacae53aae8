"""Out of fold, always: what a classifier says about rows it has not been trained on."""

from untwin.crossfit.outoffold import OutOfFold, out_of_fold, out_of_fold_confusion

__all__ = ["OutOfFold", "out_of_fold", "out_of_fold_confusion"]
