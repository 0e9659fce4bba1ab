"""What a placed program costs."""
