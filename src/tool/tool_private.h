/* tool_private.h -- shared by the files of tool.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TOOL_TOOL_PRIVATE_H
#define GW_TOOL_TOOL_PRIVATE_H

#include <pthread.h>

#include "tool/tool.h"

extern pthread_mutex_t tool_lock;

/* The user holds a pointer to the object.  It is dereferenced only if it is in the list of living objects. */
struct tool_live {
    struct tool_live *next;
};
bool tool_is_live(const struct tool_live *list, const void *handle); /* tool_lock is held */
void tool_live_add(struct tool_live **list, struct tool_live *l);
void tool_live_del(struct tool_live **list, struct tool_live *l);

void tool_text(const char *text, char *out, int *len);
static inline void tool_set(int *out, int value)
{
    if (out) *out = value;
}
#define TOOL_READY()                                                                                                               \
    do {                                                                                                                           \
        int ready = tool_ready();                                                                                                  \
        if (ready != 0) return ready;                                                                                              \
    } while (0)

/* An enumeration: words separated by commas, numbered from 0; or the algorithms of collectives, 0 being none. */
struct tool_enum {
    const char *name, *words; /* words NULL: the algorithms */
};
extern struct tool_enum tool_algorithms;

/* Which category a variable or event is in. */
enum tool_category {
    CAT_ALL,
    CAT_GENERAL,
    CAT_MESSAGES,
    CAT_WAITING,
    CAT_COPIES,
    CAT_COLLECTIVES,
    CAT_ONE_SIDED,
    CAT_FILES,
    CATEGORIES
};
bool tool_object_lives(int bind, uint64_t object); /* a communicator, window or file; NO_OBJECT: always */
bool tool_is_confined(void);                       /* this thread is in a listener that was called with locks of the library held */
int tool_cvar_category(int i);
int tool_pvar_category(int i);
int tool_event_category(int i);

#endif
