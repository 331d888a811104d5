/* ofi_place.c -- the address of a lane as text, for the launcher's key-value store and for replies to on-demand requests:
 *
 *     PROVIDER NICS LAYOUT ADDRESS KEY
 *
 * NICS: network cards of the host; LAYOUT: the layout of tags if the provider matches messages, else auto; ADDRESS and KEY: bytes,
 * and a number of 64 bits, in hexadecimal digits.  Whoever has this text can send to the lane, so it is written nowhere else.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEY_DIGITS = 2 * OFI_KEY_BYTES };
_Static_assert(ONDEMAND_VALUE >= 2 * OFI_NAME_MOST + OFI_PROVIDER_MOST + 16 + KEY_DIGITS + 1, "there is room for what a lane says");

char *ofi_place_text(const struct wire *w, const uint8_t *name, size_t bytes)
{
    char value[ONDEMAND_VALUE];
    snprintf(value, sizeof value, "%.63s %d %d ", ofi_provider_name(w), fabric_nics.n_nics, w->layout.mode);
    for (size_t i = 0; i < bytes; i++) gw_text_add(value, sizeof value, "%02x", name[i]);
    gw_text_add(value, sizeof value, " %016" PRIx64, w->key);
    char *text = strdup(value);
    if (!text) gw_die("no memory for an address");
    return text;
}

/* Reads a word of exactly `digits` hexadecimal digits as bytes. */
static bool hex_get(const char *from, size_t digits, uint8_t *to, size_t cap)
{
    static const char hex[] = "0123456789abcdef";
    if (!digits || digits % 2 || digits > 2 * cap || strspn(from, hex) != digits) return false;
    for (size_t i = 0; i < digits; i++) to[i / 2] = (uint8_t)((i % 2 ? to[i / 2] << 4 : 0) | (int)(strchr(hex, from[i]) - hex));
    return true;
}

bool ofi_place_read(const char *text, struct ofi_place *p)
{
    int at = 0;
    uint8_t key[OFI_KEY_BYTES];
    *p = (struct ofi_place){0};
    if (sscanf(text, "%63s %9d %9d %n", p->provider, &p->nics, &p->layout, &at) != 3 || !at) return false;
    const char *end = strchr(text + at, ' ');
    if (!end || !hex_get(text + at, (size_t)(end - text) - (size_t)at, p->name, sizeof p->name)) return false;
    if (strlen(end + 1) != KEY_DIGITS || !hex_get(end + 1, KEY_DIGITS, key, sizeof key)) return false;
    for (size_t i = 0; i < sizeof key; i++) p->key = p->key << 8 | key[i];
    return p->key != 0;
}
