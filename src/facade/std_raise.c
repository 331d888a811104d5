/* std_raise.c -- writes down the arguments of a call that failed, in the user's words, and raises the error.
 *
 * Letters of a description: i int, l 64-bit, p pointer, b buffer, s string, f function, r rank, t tag, S status, A statuses, and handles:
 * C communicator, D datatype, O operation, G group, R request, M message, E error handler, I info, F file, W window;
 * *C and so on: a pointer to such a handle.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "facade/std_check.h"

#include <stdio.h>

struct text {
    char *at, *end;
};
static void put(struct text *t, const char *fmt, ...) GW_PRINTF(2, 3);
static void put(struct text *t, const char *fmt, ...)
{
    va_list args;
    assert(t->at < t->end);
    va_start(args, fmt);
    int n = vsnprintf(t->at, (size_t)(t->end - t->at), fmt, args);
    va_end(args);
    assert(n >= 0);
    t->at += gw_min64(n, t->end - t->at - 1);
}

struct word {
    int64_t value;
    const char *name;
};
static const char *word_of(const struct word *words, int64_t value)
{
    for (; words->name; words++)
        if (words->value == value) return words->name;
    return NULL;
}
static const struct word buffers[] = {{0, "NULL"}, {1, "MPI_IN_PLACE"}, {2, "MPI_BUFFER_AUTOMATIC"}, {0, NULL}};
static const struct word pointers[] = {{0, "NULL"}, {0, NULL}};
static const struct word ranks[] = {
    {GW_ANY_SOURCE, "MPI_ANY_SOURCE"}, {GW_PROC_NULL, "MPI_PROC_NULL"}, {GW_ROOT, "MPI_ROOT"}, {0, NULL}};
static const struct word tags[] = {{GW_ANY_TAG, "MPI_ANY_TAG"}, {0, NULL}};
static const struct word statuses[] = {{0, "MPI_STATUS_IGNORE"}, {0, NULL}};
static const struct word arrays_of_statuses[] = {{0, "MPI_STATUSES_IGNORE"}, {0, NULL}};
static const struct word handles[] = {
#define H(x)                                                                                                                       \
    {                                                                                                                              \
        GW_H_##x, "MPI_" #x                                                                                                        \
    }
    H(COMM_NULL),  H(COMM_WORLD),   H(COMM_SELF), /* these two before init */
    H(GROUP_NULL), H(GROUP_EMPTY),  H(DATATYPE_NULL),   H(OP_NULL),          H(REQUEST_NULL), H(MESSAGE_NULL),  H(MESSAGE_NO_PROC),
    H(INFO_NULL),  H(INFO_ENV),     H(ERRHANDLER_NULL), H(ERRORS_ARE_FATAL), H(ERRORS_ABORT), H(ERRORS_RETURN), H(FILE_NULL),
    H(WIN_NULL),   H(SESSION_NULL), {0, NULL}
#undef H
};

static void put_word(struct text *t, const struct word *words, int64_t v, const char *fmt_hex)
{
    const char *name = word_of(words, v);
    if (name)
        put(t, "%s", name);
    else if (fmt_hex)
        put(t, "0x%llx", (unsigned long long)v);
    else
        put(t, "%lld", (long long)v);
}

static void put_handle(struct text *t, char letter, uintptr_t h)
{
    struct gw_comm *c = letter == 'C' ? std_comm((MPI_Comm)h) : NULL;
    struct gw_type *d = letter == 'D' ? std_type((MPI_Datatype)h) : NULL;
    struct gw_op *o = letter == 'O' ? std_op((MPI_Op)h) : NULL;
    struct rma_win *w = letter == 'W' ? std_win((MPI_Win)h) : NULL;
    struct gw_file *f = letter == 'F' ? std_file((MPI_File)h) : NULL;
    const char *name = c ? c->name : d ? type_name(d) : o ? op_name(o) : f ? f->name : w ? w->name : NULL;
    if (name && name[0])
        put(t, "%s", name);
    else
        put_word(t, handles, (int64_t)h, "hex");
}

/* In a struct: a va_list that is a parameter is an array or not, by platform. */
struct args {
    va_list v;
};

static void put_argument(struct text *t, char letter, struct args *args)
{
    const char *s;
    switch (letter) {
    case 'i': put(t, "%d", va_arg(args->v, int)); break;
    case 'l': put(t, "%lld", (long long)va_arg(args->v, int64_t)); break;
    case 'r': put_word(t, ranks, va_arg(args->v, int), NULL); break;
    case 't': put_word(t, tags, va_arg(args->v, int), NULL); break;
    case 'b': put_word(t, buffers, (int64_t)va_arg(args->v, void *), "hex"); break;
    case 'S': put_word(t, statuses, (int64_t)va_arg(args->v, void *), "hex"); break;
    case 'A': put_word(t, arrays_of_statuses, (int64_t)va_arg(args->v, void *), "hex"); break;
    case 's':
        s = va_arg(args->v, const char *);
        put(t, s ? "\"%.64s\"" : "%sNULL", s ? s : "");
        break;
    case 'p':
    case 'f': put_word(t, pointers, (int64_t)va_arg(args->v, void *), "hex"); break;
    default: put_handle(t, letter, (uintptr_t)va_arg(args->v, void *));
    }
}

static void put_pointed(struct text *t, char letter, const uintptr_t *h)
{
    put(t, h ? "&" : "NULL");
    if (h) put_handle(t, letter, *h);
}

static void put_arguments(struct text *t, const char *what, struct args *args)
{
    put(t, "(");
    while (*what) {
        const char *colon = strchr(what, ':');
        put(t, "%.*s=", (int)(colon - what), what);
        what = colon + 1;
        if (*what == '*')
            put_pointed(t, *++what, va_arg(args->v, const uintptr_t *));
        else
            put_argument(t, *what, args);
        what++;
        if (*what == ',') {
            put(t, ", ");
            what++;
        }
    }
    put(t, ")");
}

int std_raise(int fn, void *on, int code, const char *what, ...)
{
    char text[1024] = "";
    if (mpi_raise_prints(on)) {
        struct text t = {text, text + sizeof text};
        struct args args;
        va_start(args.v, what);
        put_arguments(&t, what, &args);
        va_end(args.v);
    }
    req_error_context_take(); /* whatever failed is raised here: a later wait's bad argument is none of its */
    return mpi_raise(fn, on, code, text);
}

struct gw_comm *std_request_comm(const struct gw_req *r, int code)
{
    if (code == GW_ECALLBACK) return NULL; /* a generalized request, which belongs to no communicator */
    /* No request and no context: a bad argument. */
    const void *ctx = r ? r->errctx : req_error_context_take();
    struct gw_obj *comm = gw_obj_lookup((uintptr_t)ctx, GW_KIND_COMM);
    /* An access to a file or a window: what raises asks only for the handler. */
    if (!comm) comm = gw_obj_lookup((uintptr_t)ctx, GW_KIND_FILE);
    if (!comm) comm = gw_obj_lookup((uintptr_t)ctx, GW_KIND_WIN);
    struct gw_errhandler *eh = comm || !ctx ? NULL : comm_freed_handler((uintptr_t)ctx);
    return (struct gw_comm *)(eh ? &eh->obj : comm);
}
