/* errclass.c -- error classes, codes and texts that users add.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "obj/obj_private.h"

#include <limits.h>
#include <stdlib.h>

/* What is removed leaves the list, at the latest when as much of it is removed as is not; its number is not used again, as a program may still hold it. */
struct added {
    int number;
    int class; /* its own number where it is a class; 0: removed */
    int codes; /* of a class: those that are not removed */
    char *text;
};
enum { LEAST_ROOM = 16 };
static struct {
    struct gw_lock lock; /* guards the rest */
    struct added *list;  /* by number */
    int count, room;     /* entries in use, allocated */
    int removed;         /* of those in use */
    int last;            /* number that was given */
} all = {.last = GW_ERR_LASTCODE};

static struct added *added_find(int number)
{
    int low = 0, high = all.count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (all.list[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < all.count && all.list[low].number == number && all.list[low].class ? &all.list[low] : NULL;
}

/* False: there is no memory for so many, and the list is as it was. */
static bool added_room(int room)
{
    struct added *more = realloc(all.list, (size_t)room * sizeof *more);
    if (!more) return false;
    all.list = more;
    all.room = room;
    return true;
}

/* Appends; class 0 means one of its own.  Called with the lock. */
static int added_append(int class, int *number_out)
{
    assert(all.count <= all.room);
    if (all.last == INT_MAX) return gw_fail(GW_ENOMEM, "no number is left for another error code");
    if (all.count == all.room && !added_room(all.room ? 2 * all.room : LEAST_ROOM))
        return gw_fail(GW_ENOMEM, "no memory for another error code");
    int number = ++all.last;
    all.list[all.count++] = (struct added){.number = number, .class = class ? class : number};
    gw_attr_predefined_set(GW_LASTUSEDCODE, number);
    *number_out = number;
    return GW_OK;
}

int gw_errclass_add(int *class_out)
{
    obj_lock(&all.lock);
    int rc = added_append(0, class_out);
    obj_unlock(&all.lock);
    return rc;
}

int gw_errcode_add(int class, int *code_out)
{
    obj_lock(&all.lock);
    const struct added *a = added_find(class);
    bool is_added = a && a->class == class, valid = (class >= 0 && class <= GW_ERR_LASTCODE) || is_added;
    int rc = valid ? added_append(class, code_out) : gw_fail(GW_EARG, "%d is not an error class", class);
    if (rc == GW_OK && is_added) added_find(class)->codes++; /* the list may have moved */
    obj_unlock(&all.lock);
    return rc;
}

static void added_tidy(void)
{
    int n = 0;
    for (int i = 0; i < all.count; i++)
        if (all.list[i].class) all.list[n++] = all.list[i];
    all.count = n;
    all.removed = 0;
    if (all.room > LEAST_ROOM && n <= all.room / 4) added_room(all.room / 2);
}

static int has_codes(int class)
{
    int i = 0;
    while (i < all.count && (all.list[i].class != class || all.list[i].number == class)) i++;
    assert(i < all.count);
    return gw_fail(GW_EARG, "error class %d still has the code %d", class, all.list[i].number);
}

static int added_remove(int number, bool is_class)
{
    obj_lock(&all.lock);
    struct added *a = added_find(number);
    int rc = GW_OK;
    if (!a || (a->class == number) != is_class)
        rc = gw_fail(GW_EARG, "%d is not an error %s that was added", number, is_class ? "class" : "code");
    if (rc == GW_OK && is_class && a->codes > 0) rc = has_codes(number);
    if (rc == GW_OK && a->text) rc = gw_fail(GW_EARG, "error %d still has its text: remove that first", number);
    struct added *class = rc == GW_OK && !is_class ? added_find(a->class) : NULL; /* a class of the standard's has no entry */
    if (class) class->codes--;
    if (rc == GW_OK) {
        a->class = 0;
        if (++all.removed * 2 >= all.count) added_tidy();
    }
    obj_unlock(&all.lock);
    return rc;
}

int gw_errclass_remove(int class) { return added_remove(class, true); }

int gw_errcode_remove(int code) { return added_remove(code, false); }

int gw_errstring_add(int code, const char *text)
{
    if (!text) return gw_fail(GW_EARG, "the error string is NULL");
    char *copy = text[0] ? strndup(text, GW_MAX_ERROR_STRING - 1) : NULL;
    obj_lock(&all.lock);
    struct added *a = added_find(code);
    if (a) {
        free(a->text);
        a->text = copy;
    }
    obj_unlock(&all.lock);
    if (a) return GW_OK;
    free(copy);
    return gw_fail(GW_EARG, "%d is not an error class or code that was added", code);
}

int gw_errstring_remove(int code)
{
    obj_lock(&all.lock);
    const struct added *a = added_find(code);
    bool has = a && a->text;
    obj_unlock(&all.lock);
    return has ? gw_errstring_add(code, "") : gw_fail(GW_EARG, "error %d has no text that was added", code);
}

bool gw_errcode_find(int code, int *class_out)
{
    obj_lock(&all.lock);
    const struct added *a = added_find(code);
    if (a) *class_out = a->class;
    obj_unlock(&all.lock);
    return a != NULL;
}

bool gw_errstring_find(int code, char text_out[GW_MAX_ERROR_STRING])
{
    obj_lock(&all.lock);
    const struct added *a = added_find(code);
    bool has = a && a->text;
    if (has) strcpy(text_out, a->text); /* fits: strndup() */
    obj_unlock(&all.lock);
    return has;
}

int gw_errcode_last(void)
{
    obj_lock(&all.lock);
    int last = all.last;
    obj_unlock(&all.lock);
    return last;
}

int gw_error_class(int code)
{
    static const int classes[] = {
#define X(name, mpi_class, text) mpi_class,
#include "base/errors.def"
#undef X
    };
    _Static_assert(GW_ARRAY_LEN(classes) == GW_ELAST_ - GW_EFIRST_ - 1, "one row per error code");
    int of_callback = code == GW_ECALLBACK ? gw_fail_callback_code() : 0;
    if (of_callback) return of_callback;
    return code > GW_EFIRST_ && code < GW_ELAST_ ? classes[code - GW_EFIRST_ - 1] : code >= 0 ? 0 : GW_ERR_UNKNOWN;
}
