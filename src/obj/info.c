/* info.c -- info objects: ordered lists of keys and values (MPI 4.1 chapter 10).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "obj/obj_private.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"

struct pair {
    char *key, *value;
};
struct gw_info {
    struct gw_obj obj;
    struct gw_lock lock; /* over the list; the object itself lives by the rules of MPI */
    struct pair *pairs;  /* in the order of their first setting */
    int count, room;
};

static struct gw_info info_env;

/* ---- keys and values ---- */
static int key_check(const char *key)
{
    if (!key || !key[0]) return gw_fail(GW_EINFO_KEY, "the info key is %s", key ? "empty" : "NULL");
    size_t n = strnlen(key, GW_MAX_INFO_KEY);
    if (n < GW_MAX_INFO_KEY) return GW_OK;
    return gw_fail(GW_EINFO_KEY, "the info key \"%.40s...\" is longer than MPI_MAX_INFO_KEY - 1 = %d characters", key,
                   GW_MAX_INFO_KEY - 1);
}

static int value_check(const char *key, const char *value)
{
    if (!value) return gw_fail(GW_EINFO_VALUE, "the value for info key \"%s\" is NULL", key);
    if (strnlen(value, GW_MAX_INFO_VAL) < GW_MAX_INFO_VAL) return GW_OK;
    return gw_fail(GW_EINFO_VALUE, "the value for info key \"%s\" is longer than MPI_MAX_INFO_VAL - 1 = %d characters", key,
                   GW_MAX_INFO_VAL - 1);
}

static struct pair *pair_find(const struct gw_info *info, const char *key)
{
    for (int i = 0; i < info->count; i++)
        if (strcmp(info->pairs[i].key, key) == 0) return &info->pairs[i];
    return NULL;
}

/* Reading calls take a const object; its lock is not part of its value. */
static struct gw_lock *lock_of(const struct gw_info *info) { return &((struct gw_info *)info)->lock; }

static int list_set(struct gw_info *info, const char *key, const char *value)
{
    assert(info->count <= info->room);
    char *copy = strdup(value);
    struct pair *p = pair_find(info, key);
    if (copy && p) {
        free(p->value);
        p->value = copy;
        return GW_OK;
    }
    if (info->count == info->room) {
        int room = info->room ? 2 * info->room : 4;
        struct pair *more = realloc(info->pairs, (size_t)room * sizeof *more);
        if (more) {
            info->pairs = more;
            info->room = room;
        }
    }
    char *key_copy = copy && info->count < info->room ? strdup(key) : NULL;
    if (!key_copy) {
        free(copy);
        return gw_fail(GW_ENOMEM, "no memory for info key \"%s\"", key);
    }
    info->pairs[info->count++] = (struct pair){key_copy, copy};
    return GW_OK;
}

static void list_clear(struct gw_info *info)
{
    for (int i = 0; i < info->count; i++) {
        free(info->pairs[i].key);
        free(info->pairs[i].value);
    }
    free(info->pairs);
    info->pairs = NULL;
    info->count = info->room = 0;
}

/* ---- objects ---- */
int gw_info_create(struct gw_info **info_out)
{
    struct gw_info *info = calloc(1, sizeof *info);
    if (!info) return gw_fail(GW_ENOMEM, "no memory for an info object");
    int rc = gw_obj_register(&info->obj, GW_KIND_INFO);
    if (rc) {
        free(info);
        return rc;
    }
    *info_out = info;
    return GW_OK;
}

static void info_destroy(struct gw_obj *o)
{
    struct gw_info *info = container_of(o, struct gw_info, obj);
    gw_obj_unregister(o);
    list_clear(info);
    free(info);
}

int gw_info_dup(const struct gw_info *info, struct gw_info **info_out)
{
    struct gw_info *copy;
    int rc = gw_info_create(&copy);
    if (rc) return rc;
    obj_lock(lock_of(info));
    for (int i = 0; i < info->count && rc == GW_OK; i++) rc = list_set(copy, info->pairs[i].key, info->pairs[i].value);
    obj_unlock(lock_of(info));
    if (rc) {
        info_destroy(&copy->obj);
        return rc;
    }
    *info_out = copy;
    return GW_OK;
}

static int changeable(const struct gw_info *info, const char *verb)
{
    return info->obj.predefined ? gw_fail(GW_EINFO, "MPI_INFO_ENV cannot be %s", verb) : GW_OK;
}

int gw_info_free(struct gw_info **info)
{
    int rc = changeable(*info, "freed");
    if (rc) return rc;
    if (gw_obj_unref(&(*info)->obj)) info_destroy(&(*info)->obj);
    *info = NULL;
    return GW_OK;
}

int gw_info_set(struct gw_info *info, const char *key, const char *value)
{
    int rc = changeable(info, "changed");
    if (rc == GW_OK) rc = key_check(key);
    if (rc == GW_OK) rc = value_check(key, value);
    if (rc) return rc;
    obj_lock(&info->lock);
    rc = list_set(info, key, value);
    obj_unlock(&info->lock);
    return rc;
}

int gw_info_delete(struct gw_info *info, const char *key)
{
    int rc = changeable(info, "changed");
    if (rc == GW_OK) rc = key_check(key);
    if (rc) return rc;
    obj_lock(&info->lock);
    struct pair *p = pair_find(info, key);
    if (p) {
        free(p->key);
        free(p->value);
        memmove(p, p + 1, (size_t)(info->pairs + --info->count - p) * sizeof *p);
    }
    obj_unlock(&info->lock);
    return p ? GW_OK : gw_fail(GW_EINFO_NOKEY, "the info object has no key \"%s\"", key);
}

/* ---- reading ---- */
int gw_info_get_string(const struct gw_info *info, const char *key, int *buflen, char *value_out, int *flag_out)
{
    int rc = key_check(key);
    if (rc) return rc;
    if (*buflen < 0) return gw_fail(GW_EARG, "buflen is %d, it cannot be negative", *buflen);
    obj_lock(lock_of(info));
    const struct pair *p = pair_find(info, key);
    if (p) {
        size_t n = strlen(p->value), room = (size_t)*buflen;
        if (room) {
            size_t fits = n < room - 1 ? n : room - 1;
            memcpy(value_out, p->value, fits);
            value_out[fits] = 0;
        }
        *buflen = (int)n + 1;
    }
    obj_unlock(lock_of(info));
    *flag_out = p != NULL;
    return GW_OK;
}

int gw_info_get(const struct gw_info *info, const char *key, int valuelen, char *value_out, int *flag_out)
{
    if (valuelen < 0) return gw_fail(GW_EARG, "valuelen is %d, it cannot be negative", valuelen);
    int buflen = valuelen == INT_MAX ? valuelen : valuelen + 1; /* the old call does not count the end */
    return gw_info_get_string(info, key, &buflen, value_out, flag_out);
}

int gw_info_get_valuelen(const struct gw_info *info, const char *key, int *valuelen_out, int *flag_out)
{
    int buflen = 0;
    int rc = gw_info_get_string(info, key, &buflen, NULL, flag_out);
    if (rc == GW_OK && *flag_out) *valuelen_out = buflen - 1;
    return rc;
}

int gw_info_get_nkeys(const struct gw_info *info, int *nkeys_out)
{
    obj_lock(lock_of(info));
    *nkeys_out = info->count;
    obj_unlock(lock_of(info));
    return GW_OK;
}

int gw_info_get_nthkey(const struct gw_info *info, int n, char *key_out)
{
    obj_lock(lock_of(info));
    int count = info->count;
    if (n >= 0 && n < count) strcpy(key_out, info->pairs[n].key); /* fits: key_check() */
    obj_unlock(lock_of(info));
    if (n >= 0 && n < count) return GW_OK;
    return gw_fail(GW_EARG, "key number %d is asked for, the info object has %d (counted from 0)", n, count);
}

const char *gw_info_find(const struct gw_info *info, const char *key)
{
    if (!info) return NULL;
    obj_lock(lock_of(info));
    const struct pair *p = pair_find(info, key);
    obj_unlock(lock_of(info));
    return p ? p->value : NULL;
}

const char *gw_info_find_word(const struct gw_info *info, const char *key, char text[GW_INFO_WORD])
{
    const char *value = gw_info_find(info, key);
    if (!value || strlen(value) >= GW_INFO_WORD) return NULL;
    return gw_trimmed(strcpy(text, value));
}

int gw_info_alignment(const struct gw_info *info)
{
    const char *text = gw_info_find(info, "mpi_minimum_memory_alignment");
    unsigned long least = text ? strtoul(text, NULL, 10) : 0, align = GW_CACHELINE;
    while (align < least && align < 1ul << 30) align *= 2;
    assert((align & (align - 1)) == 0);
    return (int)align;
}

/* ---- how the program was started: MPI_INFO_ENV and MPI_Info_create_env ---- */
static void env_put(struct gw_info *info, const char *key, const char *value)
{
    char cut[GW_MAX_INFO_VAL];
    size_t n = strlen(value);
    if (n > sizeof cut - 1) n = sizeof cut - 1;
    memcpy(cut, value, n);
    cut[n] = 0;
    list_set(info, key, cut);
}

/* "command" and "argv" (arguments joined by spaces). */
static void env_put_command(struct gw_info *info, int argc, char **argv)
{
    if (argc < 1 || !argv || !argv[0]) return;
    char joined[GW_MAX_INFO_VAL] = "";
    size_t n = 0;
    for (int i = 1; i < argc && argv[i] && n + 1 < sizeof joined; i++) {
        snprintf(joined + n, sizeof joined - n, "%s%s", i > 1 ? " " : "", argv[i]);
        n = strlen(joined);
    }
    env_put(info, "command", argv[0]);
    if (argc > 1) env_put(info, "argv", joined);
}

/* The arguments as the kernel keeps them: MPI_Init(NULL, NULL) tells us none. */
static void env_put_cmdline(struct gw_info *info)
{
    char text[GW_MAX_INFO_KEY + GW_MAX_INFO_VAL], *argv[GW_MAX_INFO_VAL / 2];
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC), argc = 0;
    if (fd < 0) return;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return;
    text[n] = 0;
    for (char *p = text; p < text + n && argc + 1 < (int)GW_ARRAY_LEN(argv); p += strlen(p) + 1) argv[argc++] = p;
    argv[argc] = NULL;
    env_put_command(info, argc, argv);
}

static void env_put_machine(struct gw_info *info)
{
    struct utsname u;
    char wdir[PATH_MAX];
    if (uname(&u) == 0) {
        env_put(info, "host", u.nodename);
        env_put(info, "arch", u.machine);
    }
    if (getcwd(wdir, sizeof wdir)) env_put(info, "wdir", wdir);
}

void gw_info_init(void)
{
    if (info_env.obj.id) return;
    env_put_cmdline(&info_env);
    env_put_machine(&info_env);
    gw_obj_predefine(&info_env.obj, GW_KIND_INFO, GW_H_INFO_ENV);
}

void gw_info_finalize(void)
{
    gw_obj_unregister(&info_env.obj);
    list_clear(&info_env);
}

void gw_info_env_set(const char *key, const char *value)
{
    obj_lock(&info_env.lock);
    env_put(&info_env, key, value);
    obj_unlock(&info_env.lock);
}

int gw_info_create_env(int argc, char **argv, struct gw_info **info_out)
{
    struct gw_info *info;
    int rc = info_env.obj.id ? gw_info_dup(&info_env, &info) : gw_info_create(&info);
    if (rc) return rc;
    if (!info_env.obj.id) {
        env_put_cmdline(info);
        env_put_machine(info);
    }
    if (argc > 0) {
        struct pair *p = pair_find(info, "argv");
        if (p) p->value[0] = 0; /* of the process; these arguments may be none */
        env_put_command(info, argc, argv);
    }
    *info_out = info;
    return GW_OK;
}
