"""Structures made from a confusion: sprinkling plans, trees of classes, graphs of confused classes."""
