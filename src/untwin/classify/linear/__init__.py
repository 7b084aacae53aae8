"""Linear models of all classes at once: the SVM (descent, for dense rows newton), logistic regression, naive Bayes."""

from untwin.classify.linear.logistic import LogisticModel as LogisticModel
from untwin.classify.linear.naive_bayes import NaiveBayes as NaiveBayes
from untwin.classify.linear.svm import LinearSVM as LinearSVM
