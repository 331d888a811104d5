"""How far long work is, on standard error: one line that renews itself on a terminal, a line every ten seconds elsewhere (as src/base/progress.h)."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import shutil
import sys
import threading


class Progress:
    """with Progress(text, quiet): text() is asked when a line is due.  Who prints something else meanwhile does so under `quietly`."""

    def __init__(self, text, quiet=False):
        self.text, self.quiet, self.shown = text, quiet, False
        self.terminal = sys.stderr.isatty()
        self.over, self.lock = threading.Event(), threading.Lock()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        while not self.over.wait(0.5 if self.terminal else 10):
            with self.lock:
                if self.terminal:
                    os.write(2, b"\r" + self.text().encode(errors="replace")[:shutil.get_terminal_size().columns - 1] + b"\x1b[K")
                    self.shown = True
                else:
                    os.write(2, (self.text() + "\n").encode(errors="replace"))

    def clear(self):
        if self.shown:
            os.write(2, b"\r\x1b[K")
        self.shown = False

    def quietly(self, action):
        with self.lock:
            self.clear()
            action()

    def __enter__(self):
        if not self.quiet:
            self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        if not self.quiet:
            self.thread.join()
        self.clear()
