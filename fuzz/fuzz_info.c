/* fuzz_info.c -- info objects beside a plain list: set, delete, get into buffers of any length, dup, keys in order.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "obj/obj.h"

#include "fuzz.h"

enum { MAX_PAIRS = 256 };
static struct {
    char *key, *value;
} pairs[MAX_PAIRS];
static int n_pairs;

static int find(const char *key)
{
    for (int i = 0; i < n_pairs; i++)
        if (!strcmp(pairs[i].key, key)) return i;
    return -1;
}

static bool key_ok(const char *key) { return *key && strlen(key) < GW_MAX_INFO_KEY; }

static void set(struct gw_info *info, char *key, char *value)
{
    bool ok = key_ok(key) && strlen(value) < GW_MAX_INFO_VAL;
    FUZZ_CHECK((gw_info_set(info, key, value) == GW_OK) == ok);
    int i = find(key);
    if (ok && i >= 0) {
        free(pairs[i].value);
        pairs[i].value = value;
        free(key);
    } else if (ok) {
        pairs[n_pairs].key = key;
        pairs[n_pairs++].value = value;
    } else {
        free(key);
        free(value);
    }
}

static void delete (struct gw_info *info, const char *key)
{
    int i = key_ok(key) ? find(key) : -1;
    FUZZ_CHECK((gw_info_delete(info, key) == GW_OK) == (i >= 0));
    if (i < 0) return;
    free(pairs[i].key);
    free(pairs[i].value);
    memmove(&pairs[i], &pairs[i + 1], sizeof pairs[0] * (size_t)(--n_pairs - i));
}

static void get(const struct gw_info *info, const char *key, int room)
{
    int i = find(key), len = room, flag = -1;
    char *value = malloc((size_t)room + 1);
    if (!value) abort();
    memset(value, 0x7f, (size_t)room + 1);
    int rc = gw_info_get_string(info, key, &len, value, &flag);
    FUZZ_CHECK((rc == GW_OK) == key_ok(key));
    if (rc == GW_OK) {
        FUZZ_CHECK(flag == (i >= 0));
        FUZZ_CHECK(value[room] == 0x7f);
        if (i < 0) {
            FUZZ_CHECK(len == room);
        } else {
            size_t n = strlen(pairs[i].value);
            FUZZ_CHECK(len == (int)n + 1);
            if (room) FUZZ_CHECK(strlen(value) == (n < (size_t)room ? n : (size_t)room - 1));
            if (room) FUZZ_CHECK(!strncmp(value, pairs[i].value, strlen(value)));
        }
    }
    free(value);
}

static void check_all(struct gw_info *info)
{
    int n = -1;
    char key[GW_MAX_INFO_KEY];
    FUZZ_CHECK(gw_info_get_nkeys(info, &n) == GW_OK && n == n_pairs);
    for (int i = 0; i < n; i++) {
        int len = -1, flag = 0;
        FUZZ_CHECK(gw_info_get_nthkey(info, i, key) == GW_OK && !strcmp(key, pairs[i].key));
        FUZZ_CHECK(gw_info_get_valuelen(info, key, &len, &flag) == GW_OK && flag && len == (int)strlen(pairs[i].value));
        FUZZ_CHECK(!strcmp(gw_info_find(info, key), pairs[i].value));
    }
    FUZZ_CHECK(gw_info_get_nthkey(info, n, key) != GW_OK);
    FUZZ_CHECK(gw_info_get_nthkey(info, -1, key) != GW_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = in_open(data, size);
    struct gw_info *info;
    FUZZ_CHECK(gw_info_create(&info) == GW_OK);
    while (in_more(&in) && n_pairs < MAX_PAIRS) {
        unsigned what = in_byte(&in);
        char *key = in_text(&in, what & 8 ? 400 : 3);
        struct gw_info *copy;
        switch (what & 7) {
        case 0:
        case 1:
        case 2: set(info, key, in_text(&in, what & 16 ? 2000 : 20)); continue;
        case 3: delete (info, key); break;
        case 4:
        case 5: get(info, key, in_below(&in, 40)); break;
        case 6:
            FUZZ_CHECK(gw_info_dup(info, &copy) == GW_OK);
            FUZZ_CHECK(gw_info_free(&info) == GW_OK && !info);
            info = copy;
            break;
        default: check_all(info);
        }
        free(key);
    }
    check_all(info);
    FUZZ_CHECK(gw_info_free(&info) == GW_OK);
    for (int i = 0; i < n_pairs; i++) {
        free(pairs[i].key);
        free(pairs[i].value);
    }
    n_pairs = 0;
    return 0;
}
