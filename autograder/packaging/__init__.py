"""An assignment as an archive that grades elsewhere: in Gradescope's container, or in a job of GitHub Actions.

`archive` packs it here, with `pins` for the packages to install there; `hosted` is what the archive runs.
"""
