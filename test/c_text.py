"""Calls in the text of a C source, for checks that look for some of them."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import re


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def arguments(text, at):
    """What stands between the bracket before `at` and the one that closes it."""
    depth = 1
    for end in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            return text[at:end]
    return text[at:]


def calls(text, call, declared):
    """(line, name, arguments) of each match of `call`, whose first group is the name; not where `declared` matches what stands before."""
    text = without_comments(text)
    for m in call.finditer(text):
        if not declared.search(text[max(0, m.start() - 40):m.start()]):
            yield text.count("\n", 0, m.start()) + 1, m[1], arguments(text, m.end())
