"""From a source to a release with its key, and what is tried of exercises before students see them."""
