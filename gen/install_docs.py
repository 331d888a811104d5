#!/usr/bin/env python3
"""Called by `meson install`: writes the manual pages and the list of what is missing into the prefix.

Arguments: the folders for manual pages, for documents and for data (completions of shells), all relative to the prefix."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch_docs  # noqa: E402
import man  # noqa: E402
import missing  # noqa: E402
import model as api  # noqa: E402
import shmem_man  # noqa: E402
import shmem_model  # noqa: E402


def main(man_dir, doc_dir, data_dir):
    prefix = os.environ["MESON_INSTALL_DESTDIR_PREFIX"]
    model = api.Model()
    files = [(os.path.join(man_dir, path[len("man/"):]), text) for path, text in man.emit(model) + shmem_man.emit(shmem_model.Model())]
    files += [(os.path.join(doc_dir, path[len("doc/"):]), text) for path, text in missing.emit(model)]
    files += [(os.path.join(man_dir, path), text) for path, text in launch_docs.pages()]
    files += [(os.path.join(data_dir, path), text) for path, text in launch_docs.completions()]
    files = [(os.path.join(prefix, path), text) for path, text in files]
    with open(os.path.join(os.environ["MESON_BUILD_ROOT"], "meson-logs", "install-log-docs.txt"), "w", encoding="utf-8") as f:
        f.writelines(path + "\n" for path, _ in files) # what tools/uninstall.sh removes
    for path, text in files:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    print("Installed %d manual pages and documents" % len(files))


if __name__ == "__main__":
    main(*sys.argv[1:4])
