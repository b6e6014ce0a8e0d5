"""Long-lived plugins: started when first needed, kept, and restarted when they die."""
