"""What a confusion teaches: how much to sprinkle, which classes belong together, who is mistaken for whom."""
