/* fake_launcher.h -- a launcher for a test of one process: it keeps the last value of each of a few keys, and says that others have the same.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_FAKE_LAUNCHER_H
#define GW_TEST_FAKE_LAUNCHER_H

#include <stdio.h>
#include <string.h>

#include "boot/boot_private.h"

static struct {
    char key[32], value[256];
} launcher_has[8];

static int launcher_put(const char *key, const char *value)
{
    size_t i = 0;
    while (i + 1 < GW_ARRAY_LEN(launcher_has) && launcher_has[i].key[0] && strcmp(launcher_has[i].key, key) != 0) i++;
    snprintf(launcher_has[i].key, sizeof launcher_has[i].key, "%s", key);
    snprintf(launcher_has[i].value, sizeof launcher_has[i].value, "%s", value);
    return GW_OK;
}
static int launcher_nothing(void) { return GW_OK; }
static void launcher_leave(void) {}
static int launcher_get(int rank, const char *key, char *value_out, size_t cap)
{
    (void)rank;
    for (size_t i = 0; i < GW_ARRAY_LEN(launcher_has); i++)
        if (strcmp(launcher_has[i].key, key) == 0) return snprintf(value_out, cap, "%s", launcher_has[i].value), GW_OK;
    return gw_fail(GW_EOTHER, "nobody has said %s", key);
}

static inline void launcher_fake(void)
{
    static const struct boot_backend fake = {
        .put = launcher_put, .commit = launcher_nothing, .fence = launcher_nothing, .get = launcher_get, .leave = launcher_leave};
    boot_backend_use(&fake);
}

#endif
