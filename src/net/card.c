/* card.c -- what a rank publishes for ranks of other nodes: where it is reached, and a hash of the settings that all must have alike.  Ranks
 * of one node compare these in MPI_Init (life/alike.c); those of different nodes here, when the first asks where the second is reached.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/boot.h"
#include "boot/kvs.h"
#include "boot/segment.h"
#include "net/network.h"

enum { MARK = '|', VALUE = 1024 }; /* MARK: before the hash, which is left out if it is 0 */

int network_card_put(const char *key, const char *where)
{
    char value[VALUE];
    assert(!strchr(where, MARK));
    if (boot_slot->alike_hash == 0) return boot_put(key, where);
    int n = snprintf(value, sizeof value, "%s%c%" PRIx64, where, MARK, boot_slot->alike_hash);
    return n < (int)sizeof value ? boot_put(key, value) : gw_fail(GW_EINTERN, "\"%s\" has %d bytes", key, n);
}

static _Noreturn GW_COLD void settings_differ(int rank)
{
    const char *told = boot_slot->alike;
    size_t n = strcspn(told, "\n");
    const char *more = n && told[n + 1] ? " and others" : "";
    if (!n) told = boot_slot->alike_hash ? "too many to list" : "the defaults", n = strlen(told);
    gw_die(
        "the settings of collectives on rank %d, on another node, are not those on rank %d, host %s (%.*s%s); set them alike for all ranks of the job",
        rank, gw_boot.rank, gw_boot.host, (int)n, told, more);
}

int network_card_get(int rank, const char *key, char *where_out, size_t cap)
{
    int rc = boot_get(rank, key, where_out, cap);
    if (rc != GW_OK) return rc;
    char *mark = strrchr(where_out, MARK);
    if ((mark ? strtoull(mark + 1, NULL, 16) : 0) != boot_slot->alike_hash) settings_differ(rank);
    if (mark) *mark = '\0';
    return GW_OK;
}
