"""What is kept between events: records, sessions, approvals, switched-off hooks."""
