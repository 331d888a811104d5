#!/bin/sh
# The pictures of doc/performance.md are those of its tables, and are well-formed.
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
cd "$(dirname "$0")/../.."
python3 gen/plots.py --check
python3 - doc/performance/*.svg <<'EOF'
import sys
import xml.dom.minidom
assert len(sys.argv) > 3, sys.argv
for path in sys.argv[1:]:
    picture = xml.dom.minidom.parse(path)
    lines = picture.getElementsByTagName("polyline")
    assert len(lines) >= 5, "%s shows %d lines" % (path, len(lines))
    assert {line.getElementsByTagName("title")[0].firstChild.data for line in lines} == {"Godwit", "MPICH", "Open MPI"}, path
EOF
