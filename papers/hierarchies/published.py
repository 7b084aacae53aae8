"""What paper 2 prints: small examples, the confusion of 20 Newsgroups with its five groups, accuracies."""

from __future__ import annotations

import numpy as np

from untwin.tables.confusion import Confusion

# Figure 1: true classes by rows; two cells that the copy has damaged are read off Figure 2.
NEWSGROUPS = [
    "alt.atheism", "soc.religion.christian", "sci.space", "talk.politics.misc", "talk.religion.misc",
    "rec.autos", "comp.windows.x", "talk.politics.mideast", "sci.crypt", "rec.motorcycles",
    "comp.graphics", "comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware", "sci.electronics", "misc.forsale",
    "sci.med", "comp.os.ms-windows.misc", "rec.sport.baseball", "talk.politics.guns", "rec.sport.hockey",
]  # fmt: skip
CONFUSION = [
    [251, 6, 1, 3, 32, 1, 1, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [9, 277, 0, 1, 6, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 2, 0, 0, 0, 1],
    [3, 1, 273, 1, 0, 1, 2, 0, 1, 1, 9, 0, 0, 1, 2, 3, 0, 0, 1, 1],
    [2, 0, 3, 213, 24, 3, 0, 17, 3, 0, 0, 0, 0, 0, 0, 1, 0, 1, 33, 0],
    [88, 36, 2, 23, 132, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 15, 0],
    [0, 0, 0, 3, 1, 272, 0, 0, 0, 7, 1, 2, 1, 6, 4, 1, 0, 0, 2, 0],
    [1, 1, 2, 1, 0, 1, 246, 0, 2, 2, 30, 5, 3, 1, 1, 2, 1, 1, 0, 0],
    [0, 3, 1, 18, 0, 0, 0, 275, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0],
    [1, 0, 1, 2, 1, 0, 3, 0, 284, 0, 3, 0, 1, 0, 0, 1, 0, 0, 3, 0],
    [0, 0, 0, 1, 0, 4, 1, 0, 0, 286, 1, 2, 0, 1, 2, 1, 0, 0, 1, 0],
    [0, 1, 2, 1, 1, 0, 10, 1, 2, 0, 243, 23, 7, 3, 3, 3, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 2, 7, 0, 1, 0, 5, 243, 23, 12, 3, 1, 3, 0, 0, 0],
    [0, 0, 1, 1, 0, 2, 1, 0, 0, 0, 7, 10, 260, 8, 9, 1, 0, 0, 0, 0],
    [1, 0, 1, 0, 1, 5, 2, 0, 2, 0, 7, 13, 13, 245, 6, 3, 0, 1, 0, 0],
    [0, 1, 4, 2, 0, 12, 1, 0, 0, 4, 1, 19, 10, 8, 233, 1, 0, 1, 1, 2],
    [0, 1, 5, 0, 1, 1, 0, 0, 0, 1, 2, 0, 2, 7, 2, 275, 0, 1, 1, 1],
    [1, 0, 2, 0, 1, 1, 58, 1, 3, 0, 38, 71, 17, 3, 6, 0, 97, 1, 0, 0],
    [2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 1, 1, 0, 282, 1, 7],
    [0, 0, 0, 9, 5, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 281, 0],
    [0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 1, 1, 0, 0, 0, 3, 0, 291],
]

# Figure 12: the groups, and per cent right of each class: flat, and by level 2 (naive Bayes, SVM) given the group.
GROUPS = {
    "alt.atheism": (1, 83.66, 84.32, 72.92),
    "soc.religion.christian": (1, 89.13, 95.33, 93.27),
    "talk.religion.misc": (1, 42.40, 66.67, 71.93),
    "comp.graphics": (2, 84.00, 90.13, 85.86),
    "comp.os.ms-windows.misc": (2, 12.87, 21.80, 84.53),
    "comp.sys.ibm.pc.hardware": (2, 79.13, 95.60, 85.07),
    "comp.windows.x": (2, 84.00, 88.07, 86.13),
    "comp.sys.mac.hardware": (3, 88.87, 95.73, 90.73),
    "misc.forsale": (3, 78.93, 91.33, 89.93),
    "sci.electronics": (3, 79.27, 93.27, 89.80),
    "rec.autos": (4, 91.60, 95.86, 95.06),
    "rec.motorcycles": (4, 95.00, 97.00, 94.80),
    "rec.sport.baseball": (4, 95.53, 97.60, 97.73),
    "rec.sport.hockey": (4, 97.67, 98.00, 98.47),
    "sci.crypt": (4, 93.00, 99.13, 98.13),
    "sci.med": (4, 91.93, 96.80, 97.07),
    "sci.space": (4, 93.07, 98.33, 96.80),
    "talk.politics.guns": (5, 89.93, 96.40, 90.93),
    "talk.politics.mideast": (5, 91.40, 95.07, 92.47),
    "talk.politics.misc": (5, 72.40, 83.40, 84.67),
}

# Figure 11, in per cent; and the numbers of groups, section 3 (359 classes and 335 merges leave 24, the paper says 22).
LEVELS = {
    "20 Newsgroups": {"flat": 81.69, "root": 88.19, "level 2, naive Bayes": 88.99, "level 2, SVM": 89.82},
    "Reuters": {"flat": 69.23, "root": 85.07, "level 2, naive Bayes": 76.51, "level 2, SVM": 76.33},
}
N_GROUPS = {"20 Newsgroups": 5, "Reuters": 8, "web directory": 22}
REUTERS = {"classes": 60, "training documents": 8819, "test documents": 1887}

# Figure 14: minutes and per cent; Figure 15: per cent of each class by naive Bayes, multi-class SVM and graph. In the
# last row of Figure 15 the copy is hard to read.
GRAPH = {"naive Bayes": (1.5, 79.50), "SVM": (115.0, 84.05), "graph": (50.0, 83.33)}
GRAPH_THRESHOLD = 0.03
GRAPH_CLASSES = {
    "alt.atheism": (81.67, 71.91, 74.58),
    "comp.graphics": (73.33, 79.33, 81.00),
    "comp.os.ms-windows.misc": (9.33, 83.00, 74.00),
    "comp.sys.ibm.pc.hardware": (82.33, 75.33, 80.00),
    "comp.sys.mac.hardware": (83.67, 87.67, 84.33),
    "comp.windows.x": (80.00, 80.00, 79.67),
    "misc.forsale": (71.33, 77.67, 78.67),
    "rec.autos": (90.00, 89.33, 91.33),
    "rec.motorcycles": (94.33, 95.33, 90.00),
    "rec.sport.baseball": (91.33, 92.67, 94.67),
    "rec.sport.hockey": (96.67, 98.00, 92.67),
    "sci.crypt": (92.00, 96.33, 92.00),
    "sci.electronics": (76.00, 79.00, 81.00),
    "sci.med": (86.33, 94.33, 86.33),
    "sci.space": (90.33, 93.00, 90.33),
    "soc.religion.christian": (89.33, 92.00, 89.67),
    "talk.politics.guns": (88.33, 86.00, 85.33),
    "talk.politics.mideast": (90.67, 91.33, 92.33),
    "talk.politics.misc": (71.00, 69.00, 68.33),
}

# Figures 3 to 5 and 8 to 9: the small examples.
SMALL = [[4, 0, 6, 0], [0, 4, 6, 0], [0, 0, 7, 3], [0, 0, 4, 6]]
SMALL_L1 = [[0, 8, 8, 12], [8, 0, 8, 12], [8, 8, 0, 6], [12, 12, 6, 0]]
SMALL_L2 = [[0, 32, 26, 88], [32, 0, 26, 88], [26, 26, 0, 18], [88, 88, 18, 0]]  # both 88 are misprints for 56
RATES = [[10, 0, 0, 0], [3, 4, 2, 1], [0, 1, 5, 4], [0, 1, 4, 5]]  # tenths
INCIDENCE = np.array([[0, 0.3, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0.4], [0, 0, 0.4, 0]])


def printed_confusion(rows: list[list[int]], names: list[str]) -> Confusion:
    """Return a matrix of the paper as a confusion.

    >>> printed_confusion(CONFUSION, NEWSGROUPS).total
    6000
    """
    true, predicted = np.nonzero(np.array(rows))
    times = np.array(rows)[true, predicted]
    labels = np.array(names)
    return Confusion.from_predictions(labels[true].repeat(times), labels[predicted].repeat(times), classes=labels)


def published_groups() -> list[set[str]]:
    """Return the five groups of newsgroups."""
    numbers = sorted({row[0] for row in GROUPS.values()})
    return [{name for name, row in GROUPS.items() if row[0] == number} for number in numbers]
