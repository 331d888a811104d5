/* hash.h -- FNV-1a.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_HASH_H
#define GW_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- hash ---- */
#define GW_HASH_SEED UINT64_C(0xcbf29ce484222325)
static inline uint64_t gw_hash(uint64_t h, const void *bytes, size_t n) /* FNV-1a; h: the seed, or the hash of the bytes before */
{
    for (const unsigned char *p = bytes; n > 0; n--) h = (h ^ *p++) * UINT64_C(0x100000001b3);
    return h;
}
static inline uint64_t gw_hash_text(const char *text) { return gw_hash(GW_HASH_SEED, text, strlen(text)); }

#endif
