"""`python -m untwin`: the command, where its script is not on the path."""

from untwin.cli import main

main()
