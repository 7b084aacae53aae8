"""What the owner does with the classes of a model: previews, changes with an author, undo, and their events."""
