"""What memory knows: entries, and everything that ever happened to them.

``memory/PROJECT/journal/DAY-MACHINE.jsonl`` in the vault has one change per line: an entry was added, superseded, closed,
retired, pinned, edited. Files only grow, and each machine writes its own, so that a merge of two copies has no
conflicts. ``model`` folds changes into entries (pure), ``files`` reads and appends, ``legacy`` reads what earlier
versions left as changes, ``views`` writes Markdown for people and reads their edits back. Everything else (the search
index, ``decisions.jsonl``, ``failures.jsonl``, ``handoff.md``, the notes) is made from it and can be made again.

To read: ``Journal(places, project, cwd).state()``. To write: ``add`` and ``change`` of the same object.
"""
