"""One policy on many machines: signed bundles, what agents' owners may enforce, records and answers over a broker."""
