"""A recorded event, once more: against the hooks of today, or as another agent would have sent it."""
