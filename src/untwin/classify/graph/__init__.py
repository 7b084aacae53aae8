"""A fast base classifier for all classes, and experts for the classes that it confuses."""
