"""Real English for the small models: 93 novels from 1839 to 1927, cleaned, split by book, and four models trained on them.

The texts are not part of the course; `data/novels/README.md` says which they are and where such texts come from.
"""
