/* unit.h -- what a unit test needs: CHECK counts and prints failures, unit_end() is main's answer.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_UNIT_H
#define GW_TEST_UNIT_H

#include <stdio.h>
#include <string.h>

static int unit_failures;

#define CHECK(cond)                                                                                                                \
    do {                                                                                                                           \
        if (!(cond)) {                                                                                                             \
            unit_failures++;                                                                                                       \
            fprintf(stderr, "%s:%d: %s: not so: %s\n", __FILE__, __LINE__, __func__, #cond);                                       \
        }                                                                                                                          \
    } while (0)
#define CHECK_EQ(a, b)                                                                                                             \
    do {                                                                                                                           \
        long long unit_a = (long long)(a), unit_b = (long long)(b);                                                                \
        if (unit_a != unit_b) {                                                                                                    \
            unit_failures++;                                                                                                       \
            fprintf(stderr, "%s:%d: %s: %s is %lld, not %s = %lld\n", __FILE__, __LINE__, __func__, #a, unit_a, #b, unit_b);       \
        }                                                                                                                          \
    } while (0)
#define CHECK_STR(a, b)                                                                                                            \
    do {                                                                                                                           \
        const char *unit_a = (a), *unit_b = (b);                                                                                   \
        if (strcmp(unit_a, unit_b) != 0) {                                                                                         \
            unit_failures++;                                                                                                       \
            fprintf(stderr, "%s:%d: %s: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, __func__, #a, unit_a, unit_b);            \
        }                                                                                                                          \
    } while (0)

static inline int unit_end(void) { return unit_failures != 0; }

#endif
