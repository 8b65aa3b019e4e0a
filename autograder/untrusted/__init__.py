"""Everything that reads a student's bytes in the instructor's process: bounded in size and time, shown escaped."""
