"""Put coursekit, which lies beside this folder, into a wheel; an editable installation reads it where it lies."""

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    """Adds coursekit to the files of a wheel; hatchling finds this class by its base."""

    def initialize(self, version, build_data):
        """Called by hatchling before each build; `version` is "editable" for an editable installation."""
        if version == "standard":
            build_data["force_include"]["../coursekit"] = "coursekit"
