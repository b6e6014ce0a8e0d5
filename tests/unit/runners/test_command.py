from __future__ import annotations

import pytest

from hookline.runners.command import parse_shebang


@pytest.mark.parametrize(
    ("first", "words"),
    [
        ("#!/bin/sh", ("/bin/sh",)),
        ("#! /bin/sh", ("/bin/sh",)),
        ("#!/bin/sh\r", ("/bin/sh",)),
        ("\ufeff#!/bin/sh", ("/bin/sh",)),
        ("#!/bin/bash   -e \t -u", ("/bin/bash", "-e", "-u")),
        ("#!/usr/bin/env python3", ("/usr/bin/env", "python3")),
        ("#!/usr/bin/env  -S  deno   run --allow-env", ("/usr/bin/env", "deno", "run", "--allow-env")),
        ("#!/usr/bin/env -Snode --test", ("/usr/bin/env", "node", "--test")),
        ("#!/usr/bin/env", ("/usr/bin/env",)),
        ("#!/usr/bin/env -S", ("/usr/bin/env",)),
        ("#!", ("/bin/sh",)),
        ("echo no shebang", ("/bin/sh",)),
        ("", ("/bin/sh",)),
    ],
)
def test_a_shebang_is_words(first, words):
    assert parse_shebang(f"{first}\nrest -x\n") == words
