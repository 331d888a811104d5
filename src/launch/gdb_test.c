/* gdb_test.c -- lists of ranks, as --gdb takes them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "launch/gdb.h"
#include "base/base.h"
#include "unit.h"

int main(void)
{
    enum { N = 6 };
    static const struct {
        const char *list;
        int n;
        const char *has;
    } cases[] = {
        {"", 6, "111111"},      {"all", 6, "111111"}, {"0", 1, "100000"},       {"5", 1, "000001"},
        {"0,2-3", 3, "101100"}, {"2-2", 1, "001000"}, {"3,1,3-4", 3, "010110"}, {"0-5", 6, "111111"},
    };
    static const char *const none[] = {"x", "1-", "-1", ",", "1,", ",1", "2-1", "1 ", "1;2", "0-2-3", "al", "1--2"};
    static const char *const far[] = {"6", "0,6", "3-6", "99999999999999999999", "4294967296"};
    bool has[N];
    for (size_t i = 0; i < GW_ARRAY_LEN(cases); i++) {
        CHECK_EQ(launch_gdb_ranks(cases[i].list, N, has), cases[i].n);
        for (int r = 0; r < N; r++) CHECK_EQ(has[r], cases[i].has[r] == '1');
    }
    for (size_t i = 0; i < GW_ARRAY_LEN(none); i++) CHECK_EQ(launch_gdb_ranks(none[i], N, has), GDB_NO_LIST);
    for (size_t i = 0; i < GW_ARRAY_LEN(far); i++) CHECK_EQ(launch_gdb_ranks(far[i], N, has), GDB_NO_RANK);
    return unit_end();
}
