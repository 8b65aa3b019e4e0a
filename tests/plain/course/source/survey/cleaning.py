"""How the names in the survey are written."""


def tidy(name):
    return name.strip().title()
