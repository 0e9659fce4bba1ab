"""From tree to placed program, and the checks on it."""
