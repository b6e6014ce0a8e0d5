"""The commands of git itself: an alias of such a name has no effect."""

from __future__ import annotations

from typing import Final

from hookline.guard.pattern import words

GIT_COMMANDS: Final = words(
    "add am apply archive bisect blame branch bundle cat-file checkout cherry cherry-pick clean clone commit config describe diff difftool fetch filter-branch format-patch fsck gc grep init log ls-files ls-remote ls-tree merge mv notes pull push rebase reflog remote repack replace reset restore rev-list rev-parse revert rm shortlog show show-ref sparse-checkout stash status submodule switch symbolic-ref tag update-index update-ref worktree prune"
)
