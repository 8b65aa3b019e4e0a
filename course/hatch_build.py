"""Put coursekit, which lies beside this folder, into a wheel; an editable installation reads it where it lies."""

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        if version == "standard":
            build_data["force_include"]["../coursekit"] = "coursekit"
