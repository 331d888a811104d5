# clock.sh -- sourced by the scripts here: a clock for how soon things end that stands still when the machine does.
#
# Every tick starts a process and waits 50 ms; on a machine that is busy with other work both take as much longer as what is measured
# does, so that a limit in these ms holds there too.  Elsewhere it is slower than the wall's by a few percent.
#
#     clock_start DIR; now_ms; clock_stop     (clock_stop in the script's EXIT trap)
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
clock_start() {
    clock_file=$1/clock
    : >"$clock_file"
    # ends with the script, however that ends
    (while kill -0 $$ 2>/dev/null; do sleep 0.05; printf x; done >>"$clock_file") &
    clock_pid=$!
}
now_ms() { echo $((50 * $(wc -c <"$clock_file"))); }
clock_stop() { kill $clock_pid 2>/dev/null || :; }
