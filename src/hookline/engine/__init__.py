"""What happens to one event: match, check eligibility, run, fold, record."""
