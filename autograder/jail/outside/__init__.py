"""What builds the walls and talks through them: it starts servers in bubblewrap, and gives them jobs."""
