"""What runs within the walls, beside a student's code: it may know nothing that a student must not read."""
