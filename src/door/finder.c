/* finder.c -- lets the dynamic loader find the doors below scripts that put other folders in front of LD_LIBRARY_PATH (R's does).
 *
 * mpiexec names this library in LD_AUDIT for what it starts where that may start or open programs of other ABIs, and the doors' files in
 * GODWIT_DOORS_PATH.  The loader asks it before it looks for a library; for the names that a door has, the answer is the door.  Nothing else is
 * looked at: no call is traced, and the program's own libraries stay as they are.
 *
 * It is loaded into each of these processes, into a name space of its own, so it needs no other library, not even the C library: a second one
 * would cost half a millisecond, and valgrind's programs would free by one what the other has given.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-loop-distribute-patterns") /* which would make calls of the C library of some loops */
#endif

#define FINDER_VISIBLE __attribute__((visibility("default")))
FINDER_VISIBLE unsigned int la_version(unsigned int version);
FINDER_VISIBLE char *la_objsearch(const char *name, uintptr_t *cookie, unsigned int flag);
extern void *__libc_stack_end; /* of the loader: where argc lies, and behind it arguments and environment */

static const char *files; /* with colons; NULL: there are none */

/* The rest of `text` behind `begin`, NULL: it begins with something else. */
static const char *behind(const char *text, const char *begin)
{
    while (*begin && *text == *begin) text++, begin++;
    return *begin ? NULL : text;
}

static const char *variable(const char *name_and_sign)
{
    const char **at = (const char **)__libc_stack_end;
    const char *value = NULL;
    for (at += (uintptr_t)at[0] + 2; *at && !value; at++) value = behind(*at, name_and_sign);
    return value;
}

/* 0: the loader lets this library be. */
unsigned int la_version(unsigned int version)
{
    const char *doors = variable("GODWIT_DOORS="), *rest = doors ? behind(doors, "off") : NULL;
    (void)version;
    files = rest && !*rest ? NULL : variable("GODWIT_DOORS_PATH=");
    return files && *files ? 1 : 0; /* the first version has all that is needed, and each loader knows it */
}

char *la_objsearch(const char *name, uintptr_t *cookie, unsigned int flag)
{
    static char path[4096]; /* the loader holds its lock, and copies it */
    (void)cookie;
    if (flag != LA_SER_ORIG) return (char *)(uintptr_t)name;
    for (const char *f = files; *f;) {
        size_t n = 0, base = 0; /* of this file: its length, and where its name begins */
        for (; f[n] && f[n] != ':'; n++)
            if (f[n] == '/') base = n + 1;
        size_t same = 0;
        while (name[same] && base + same < n && f[base + same] == name[same]) same++;
        if (!name[same] && base + same == n && n < sizeof path) { /* a name with a folder in it is none of them */
            for (size_t i = 0; i < n; i++) path[i] = f[i];
            path[n] = 0;
            return path;
        }
        f += n + (f[n] == ':');
    }
    return (char *)(uintptr_t)name;
}
