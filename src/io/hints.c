/* hints.c -- the hints of a file (MPI 4.1 section 14.2.8), named as ROMIO names them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/plain.h"
#include "base/settings.h"
#include "coll/coll.h"

static const char *const choices[] = {[IO_AUTO] = "automatic", [IO_DISABLE] = "disable", [IO_ENABLE] = "enable"};

enum kind { SIZE, COUNT, INDEX, CHOICE, OCTAL, BOTH, STYLE, LIST, FLAG, COLLECTIVE };
static const struct {
    const char *key;
    enum kind kind;
    size_t at;
} rows[] = {
    {"ind_rd_buffer_size", SIZE, offsetof(struct io_hints, read_buffer)},
    {"ind_wr_buffer_size", SIZE, offsetof(struct io_hints, write_buffer)},
    {"cb_buffer_size", SIZE, offsetof(struct io_hints, collective_buffer)},
    {"cb_nodes", COUNT, offsetof(struct io_hints, aggregators)},
    {"cray_cb_nodes_multiplier", COUNT, offsetof(struct io_hints, multiplier)},
    {"romio_cb_read", CHOICE, offsetof(struct io_hints, buffer_read)},
    {"romio_cb_write", CHOICE, offsetof(struct io_hints, buffer_write)},
    {"romio_ds_read", CHOICE, offsetof(struct io_hints, sieve_read)},
    {"romio_ds_write", CHOICE, offsetof(struct io_hints, sieve_write)},
    {"collective_buffering", BOTH, 0},
    {"romio_no_indep_rw", COLLECTIVE, offsetof(struct io_hints, collective_only)},
    {"direct_io", FLAG, offsetof(struct io_hints, direct)},
    {"cb_config_list", LIST, offsetof(struct io_hints, aggregator_list)},
    {"striping_factor", COUNT, offsetof(struct io_hints, stripes)},
    {"striping_unit", SIZE, offsetof(struct io_hints, stripe)},
    {"start_iodevice", INDEX, offsetof(struct io_hints, start)},
    {"access_style", STYLE, 0},
    {"file_perm", OCTAL, offsetof(struct io_hints, permissions)},
};

/* Hints of other libraries that have no effect here; MPI_File_get_info does not return them. */
static const struct {
    const char *key, *why;
} idle[] = {
    {"cray_cb_write_lock_mode", "aggregators write different stripes, and there are no locks ahead of writes"},
    {"overstriping_factor", "a file has as many stripes as striping_factor says"},
};

void io_hints_default(struct io_hints *h)
{
    *h = (struct io_hints){.read_buffer = 4 << 20,
                           .write_buffer = 512 << 10,
                           .collective_buffer = 16 << 20,
                           .multiplier = 1,
                           .permissions = -1,
                           .start = -1,
                           .aggregator_list = "*:*"};
    h->stats = gw_set.mpiio_stats;
    h->timers = gw_set.mpiio_timers;
    h->time_waits = gw_set.mpiio_time_waits;
}

static bool number(const char *text, int base, int64_t least, int64_t most, int64_t *out)
{
    assert(least <= most);
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, base);
    if (errno || end == text || *end || v < least || v > most) return false;
    *out = v;
    return true;
}

/* Reads "true", "enable" or their opposites; false: it is another word. */
static bool read_flag(const char *text, bool *on_out)
{
    *on_out = strcmp(text, "true") == 0 || strcmp(text, "enable") == 0;
    return *on_out || strcmp(text, "false") == 0 || strcmp(text, "disable") == 0;
}

/* Reads access_style, a list of words; some become advice to the kernel.  False: another word is among them. */
static bool read_style(struct io_hints *h, const char *text)
{
    static const char *const others[] = {"write_once", "read_mostly", "write_mostly", "reverse_sequential"};
    bool fits = true;
    h->sequential = h->random = h->once = 0;
    while (*text) {
        size_t n = strcspn(text, ", ");
        if (n == 10 && memcmp(text, "sequential", n) == 0)
            h->sequential = 1;
        else if (n == 6 && memcmp(text, "random", n) == 0)
            h->random = 1;
        else if (n == 9 && memcmp(text, "read_once", n) == 0)
            h->once = 1;
        else {
            bool is_other = n == 0;
            for (size_t i = 0; i < GW_ARRAY_LEN(others); i++) is_other |= strlen(others[i]) == n && memcmp(text, others[i], n) == 0;
            fits &= is_other;
        }
        text += n + strspn(text + n, ", ");
    }
    return fits;
}

/* Copies a list host:most,... without spaces.  False: it is another text. */
static bool read_list(char *list, size_t room, const char *text)
{
    if (strlen(text) >= room || !*text) return false;
    for (const char *c = text; *c;) {
        size_t n = strcspn(c, ","), host = strcspn(c, ":,");
        bool has_count = host<n, fits = host> 0;
        for (size_t i = host + 1; has_count && i < n; i++) fits &= isdigit((unsigned char)c[i]) || (c[i] == '*' && n == host + 2);
        if (!fits || (has_count && n == host + 1)) return false;
        c += n + (c[n] == ',');
    }
    strcpy(list, text);
    return true;
}

static bool read_number(void *field, size_t bytes, const char *text, int base, int64_t least, int64_t most)
{
    int64_t v;
    if (!number(text, base, least, most, &v)) return false;
    if (bytes == sizeof v)
        *(int64_t *)field = v;
    else
        *(int32_t *)field = (int32_t)v;
    return true;
}

/* False: the text is no value of such a hint, and changes nothing. */
static bool read_one(struct io_hints *h, enum kind kind, size_t at, const char *text)
{
    void *field = (char *)h + at;
    bool on, is_flag = (kind == BOTH || kind == COLLECTIVE || kind == FLAG) && read_flag(text, &on);
    switch (kind) {
    case SIZE: return read_number(field, 8, text, 10, 1, (int64_t)1 << 40);
    case COUNT: return read_number(field, 4, text, 10, 1, INT32_MAX);
    case INDEX: return read_number(field, 4, text, 10, 0, UINT16_MAX);
    case OCTAL: return read_number(field, 4, text, 8, 0, 07777);
    case BOTH: /* aggregators for both directions, always or never */
        if (is_flag) h->buffer_read = h->buffer_write = on ? IO_ENABLE : IO_DISABLE;
        return is_flag;
    case COLLECTIVE:
        if (is_flag) *(int32_t *)field = on;
        if (h->collective_only) h->buffer_read = h->buffer_write = IO_ENABLE; /* else all ranks would have to open the file */
        return is_flag;
    case FLAG:
        if (is_flag) *(int32_t *)field = on;
        return is_flag;
    case STYLE: return read_style(h, text);
    case LIST: return read_list(field, sizeof h->aggregator_list, text);
    case CHOICE:
        for (size_t i = 0; i < GW_ARRAY_LEN(choices); i++)
            if (strcmp(text, choices[i]) == 0) return *(int32_t *)field = (int32_t)i, true;
    }
    return false;
}

void io_hints_read(struct io_hints *h, const struct gw_info *info)
{
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++) {
        char word[GW_INFO_WORD];
        bool is_list = rows[i].kind == LIST || rows[i].kind == STYLE;
        const char *text = is_list ? gw_info_find(info, rows[i].key) : gw_info_find_word(info, rows[i].key, word);
        if (text) read_one(h, rows[i].kind, rows[i].at, text);
    }
    for (size_t i = 0; i < GW_ARRAY_LEN(idle); i++)
        if (gw_info_find(info, idle[i].key)) h->idle |= 1 << i;
}

int io_hints_share(struct gw_file *f, struct io_hints *h)
{
    io_drain(f);
    return f->comm->size == 1 ? GW_OK : coll_bcast(h, (int64_t)sizeof *h, gw_type_byte, 0, f->comm, NULL);
}

/* ---- what the user says outside of the program ------------------------------------------------------------------------------ */
/* The length of the text up to one of the characters `ends`, except between two #. */
static size_t span(const char *text, const char *ends)
{
    size_t n = 0;
    for (bool quoted = false; text[n] && (quoted || !strchr(ends, text[n])); n++) quoted ^= text[n] == '#';
    return n;
}

/* Of a hint that is spelled wrong. */
static void say_no_hint(const char *key)
{
    const char *words[GW_ARRAY_LEN(rows) + GW_ARRAY_LEN(idle)];
    int n = 0;
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++) words[n++] = rows[i].key;
    for (size_t i = 0; i < GW_ARRAY_LEN(idle); i++) words[n++] = idle[i].key;
    const char *near = gw_nearest(key, words, n);
    if (near)
        gw_warn("%s: files have no hint %s; did you mean %s?", gw_setting_said("GODWIT_MPIIO_HINTS"), key, near);
    else
        gw_warn("%s: files have no hint %s (MPICH_MPIIO_HINTS_DISPLAY=1 shows those that they have)",
                gw_setting_said("GODWIT_MPIIO_HINTS"), key);
}

static void say_no_value(const char *key, enum kind kind, const char *value)
{
    static const char *const wanted[] = {[SIZE] = "a number of bytes, from 1 on, without a unit",
                                         [COUNT] = "a number from 1 on",
                                         [INDEX] = "a number from 0 to 65535",
                                         [CHOICE] = "automatic, enable or disable",
                                         [OCTAL] = "an octal number",
                                         [BOTH] = "true, enable, false or disable",
                                         [COLLECTIVE] = "true, enable, false or disable",
                                         [FLAG] = "true, enable, false or disable",
                                         [STYLE] = "of the words of MPI's access_style",
                                         [LIST] = "a list HOST:MOST,.. (between two #)"};
    gw_warn("%s: %s=%s is left out: the value is not %s", gw_setting_said("GODWIT_MPIIO_HINTS"), key, value, wanted[kind]);
}

/* says: of what is no hint. */
static void read_pair(struct io_hints *h, const char *pair, size_t n, bool says)
{
    char text[256], *value = NULL;
    if (n < sizeof text) {
        *(char *)mempcpy(text, pair, n) = 0;
        value = strchr(text, '=');
    }
    if (!value && says)
        gw_warn("%s: \"%.*s\" is no key=value of at most 255 characters", gw_setting_said("GODWIT_MPIIO_HINTS"), (int)n, pair);
    if (!value) return;
    *value++ = 0;
    size_t len = strlen(value);
    if (len >= 2 && value[0] == '#' && value[len - 1] == '#') value[len - 1] = 0, value++;
    bool is_known = false;
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].key, text) != 0) continue;
        is_known = true;
        if (!read_one(h, rows[i].kind, rows[i].at, value) && says) say_no_value(text, rows[i].kind, value);
    }
    for (size_t i = 0; i < GW_ARRAY_LEN(idle); i++) {
        if (strcmp(idle[i].key, text) != 0) continue;
        is_known = true;
        h->idle |= 1 << i;
    }
    if (!is_known && says) say_no_hint(text);
}

/* The pairs of an entry, behind its pattern of n characters. */
static void read_entry(struct io_hints *h, const char *at, size_t n, size_t entry, bool says)
{
    if (n == entry && says)
        gw_warn("%s: \"%.*s\" has no hints: an entry is pattern:key=value", gw_setting_said("GODWIT_MPIIO_HINTS"), (int)n, at);
    for (size_t k = n; k < entry; k += span(at + k, ":,")) {
        k++;
        read_pair(h, at + k, span(at + k, ":,"), says);
    }
}

void io_hints_of_user(struct io_hints *h, const char *file)
{
    const char *at = gw_set.mpiio_hints ? gw_set.mpiio_hints : "";
    while (*at) {
        size_t entry = span(at, ","), n = span(at, ":,");
        char *pattern = strndup(at, n);
        bool fits = pattern && fnmatch(pattern, file, 0) == 0;
        free(pattern);
        if (fits) return read_entry(h, at, n, entry, false); /* the first entry that fits counts */
        at += entry + (at[entry] == ',');
    }
}

void io_hints_look(void)
{
    static atomic_bool is_looked;
    struct io_hints unused = {.permissions = -1};
    const char *at = gw_set.mpiio_hints ? gw_set.mpiio_hints : "";
    if (atomic_exchange(&is_looked, true)) return;
    for (size_t entry; *at; at += entry + (at[entry] == ',')) {
        entry = span(at, ",");
        read_entry(&unused, at, span(at, ":,"), entry, true);
    }
}

/* ---- calls ------------------------------------------------------------------------------------------------------------------ */
int io_hints_change(struct gw_file *f, struct gw_info *info)
{
    struct io_hints h = f->hints, old = f->hints;
    io_hints_read(&h, info);
    io_hints_of_user(&h, f->name);
    int rc = io_hints_share(f, &h);
    if (rc != GW_OK) return rc;
    /* These hints concern opening and creation, which are over. */
    if (f->amode & GW_MODE_WRONLY) h.sieve_write = old.sieve_write;
    h.permissions = old.permissions;
    h.stripes = old.stripes;
    h.stripe = old.stripe;
    h.start = old.start;
    h.collective_only = old.collective_only;
    h.direct = old.direct;
    f->hints = h;
    if (h.sequential != old.sequential || h.random != old.random || h.once != old.once) io_fs_advise(f);
    bool is_placed =
        h.aggregators == old.aggregators && h.multiplier == old.multiplier && strcmp(h.aggregator_list, old.aggregator_list) == 0;
    return is_placed ? GW_OK : io_place(f);
}

int io_set_info(struct gw_file *f, struct gw_info *info)
{
    int rc = io_enter(f, IO_SET_INFO, GW_OK);
    return rc == GW_OK ? io_hints_change(f, info) : rc;
}

/* The text of a hint; false: it has no value. */
static bool text_of(const struct gw_file *f, size_t row, char *text, size_t room)
{
    assert(row < GW_ARRAY_LEN(rows));
    const struct io_hints *h = &f->hints;
    const void *field = (const char *)h + rows[row].at;
    int32_t n = 0;
    switch (rows[row].kind) {
    case SIZE: snprintf(text, room, "%lld", (long long)*(const int64_t *)field); return *(const int64_t *)field > 0;
    case COUNT:
        n = field == &h->aggregators ? f->n_aggregators : *(const int32_t *)field;
        snprintf(text, room, "%d", n);
        return n > 0;
    case INDEX: snprintf(text, room, "%d", *(const int32_t *)field); return *(const int32_t *)field >= 0;
    case OCTAL: snprintf(text, room, "%o", (unsigned)*(const int32_t *)field); return *(const int32_t *)field >= 0;
    case CHOICE: snprintf(text, room, "%s", choices[*(const int32_t *)field]); return true;
    case BOTH:
        snprintf(text, room, "%s", h->buffer_write == IO_ENABLE ? "true" : "false");
        return h->buffer_write == h->buffer_read && h->buffer_write != IO_AUTO;
    case LIST: snprintf(text, room, "%s", (const char *)field); return true;
    case COLLECTIVE:
    case FLAG: snprintf(text, room, "%s", *(const int32_t *)field ? "true" : "false"); return true;
    case STYLE:
        snprintf(text, room, "%s%s%s", h->sequential ? "sequential," : "", h->random ? "random," : "", h->once ? "read_once," : "");
        n = (int32_t)strlen(text);
        if (n > 0) text[n - 1] = 0;
        return n > 0;
    }
    return false;
}

int io_get_info(struct gw_file *f, struct gw_info **info_out)
{
    struct gw_info *info;
    char text[sizeof f->hints.aggregator_list];
    int rc = gw_info_create(&info);
    if (rc != GW_OK) return rc;
    for (size_t i = 0; i < GW_ARRAY_LEN(rows) && rc == GW_OK; i++)
        if (text_of(f, i, text, sizeof text)) rc = gw_info_set(info, rows[i].key, text);
    if (rc == GW_OK && strlen(f->name) < GW_MAX_INFO_VAL) rc = gw_info_set(info, "filename", f->name);
    if (rc == GW_OK) rc = gw_info_set(info, "mpi_memory_alloc_kinds", GW_MEMORY_KINDS);
    if (rc == GW_OK)
        *info_out = info;
    else
        gw_info_free(&info);
    return rc;
}

void io_hints_show(struct gw_file *f)
{
    char text[sizeof f->hints.aggregator_list];
    gw_print(stderr, "PE 0: MPIIO hints for %s:\n", f->name);
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++)
        if (text_of(f, i, text, sizeof text)) gw_print(stderr, "          %-24s = %s\n", rows[i].key, text);
    for (size_t i = 0; i < GW_ARRAY_LEN(idle); i++)
        if (f->hints.idle & 1 << i) fprintf(stderr, "          %-24s is of no effect here: %s\n", idle[i].key, idle[i].why);
    fprintf(stderr, "          %-24s = %lld\n", "aggregator_placement_stride", (long long)gw_set.mpiio_aggregator_placement_stride);
}
