/* door.c -- what is not worth inlining of how arguments and results change over.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "door/door.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

DOOR_CORE(Type_get_envelope_c);

/* ---- error classes and codes: the numbers that users added lie above the last predefined one, in the order of their making ---- */
int door_code_in(int code)
{
    if (code >= CLIENT_ERR_LASTCODE) return code - CLIENT_ERR_LASTCODE + MPI_ERR_LASTCODE;
    return door_code_in_any(code);
}

int door_code_out(int code)
{
    if (code >= MPI_ERR_LASTCODE) return code - MPI_ERR_LASTCODE + CLIENT_ERR_LASTCODE;
    return door_code_out_any(code);
}

void door_codes_out(int *codes, int n)
{
    for (int i = 0; i < n; i++) codes[i] = door_code_out(codes[i]);
}

int door_is_root(client_Comm comm, int root)
{
    int rank = godwit_door_members(door_Comm_in(comm), DOOR_RANK);
    return rank >= 0 && rank == root;
}

/* ---- arrays ---- */
void *door_memory(int64_t n, size_t size)
{
    void *p = malloc((size_t)n * size);
    if (p) return p;
    fprintf(stderr, "godwit: no memory for %lld handles or statuses of a call\n", (long long)n);
    abort();
}

void door_memory_free(void *array) { free(array); }

const int *door_ints_copy(const int *from, int64_t n, int *stack, int (*change)(int))
{
    int *to = door_array(stack, n, sizeof *to);
    for (int64_t i = 0; i < n; i++) to[i] = change(from[i]);
    return to;
}

MPI_Datatype *door_Datatypes_new(const client_Datatype *to, int64_t n, MPI_Datatype *stack)
{
    MPI_Datatype *mine = to ? door_array(stack, n, sizeof *mine) : NULL;
    for (int64_t i = 0; mine && i < n; i++) mine[i] = 0;
    return mine;
}

void door_Datatypes_out(const MPI_Datatype *from, int64_t n, client_Datatype *to)
{
    for (int64_t i = 0; from && i < n; i++)
        if (from[i]) to[i] = door_Datatype_out(from[i]);
}

void door_contents_out(MPI_Datatype type, int n, int *ints)
{
    MPI_Count n_ints = 0, n_addresses, n_large, n_types;
    int combiner;
    if (core_Type_get_envelope_c(type, &n_ints, &n_addresses, &n_large, &n_types, &combiner) != MPI_SUCCESS || !ints || n_ints > n)
        return;
    if (combiner == MPI_COMBINER_SUBARRAY) ints[n_ints - 1] = door_order_out(ints[n_ints - 1]);
    if (combiner != MPI_COMBINER_DARRAY) return;
    int dims = ints[2], at = 3 + (n_large ? 0 : dims); /* size, rank, ndims, gsizes where they are ints, distribs, dargs, ... */
    for (int i = at; i < at + dims; i++) ints[i] = door_distribution_out(ints[i]);
    for (int i = at + dims; i < at + 2 * dims; i++)
        ints[i] = ints[i] == MPI_DISTRIBUTE_DFLT_DARG ? CLIENT_DISTRIBUTE_DFLT_DARG : ints[i];
    ints[n_ints - 1] = door_order_out(ints[n_ints - 1]);
}

/* ---- statuses ---- */
MPI_Status *door_statuses_begin(client_Status *s, int64_t n, MPI_Status *stack)
{
    if (!door_are_statuses(s)) return MPI_STATUSES_IGNORE;
    MPI_Status *mine = door_array(stack, n, sizeof *mine);
    door_statuses_load(s, n, mine);
    return mine;
}

void door_statuses_end(const MPI_Status *mine, int64_t n, client_Status *s, int rc)
{
    door_statuses_store(mine, n, s);
    if (rc == MPI_ERR_IN_STATUS) door_statuses_failed(mine, n, s, door_code_out);
}

/* ---- special addresses ---- */
void door_buffer_out(void *address_of_buffer)
{
    void *buf;
    memcpy(&buf, address_of_buffer, sizeof buf);
    if (buf != MPI_BUFFER_AUTOMATIC) return;
    buf = CLIENT_BUFFER_AUTOMATIC;
    memcpy(address_of_buffer, &buf, sizeof buf);
}

const int *door_weights_const(const int *weights)
{
    if (weights == door_unweighted()) return MPI_UNWEIGHTED;
    return weights == door_weights_empty() ? MPI_WEIGHTS_EMPTY : weights;
}

const char *door_string_in(const char *text, int most)
{
    assert(most > 0 && most <= MPI_MAX_INFO_VAL + 1); /* so that it is refused wherever it is put in place */
    static const char too_long[MPI_MAX_INFO_VAL + 2] = {[0 ... MPI_MAX_INFO_VAL] = '*'};
    return text && strnlen(text, (size_t)most) == (size_t)most ? too_long : text;
}

void door_string_out(const char *from, char *to, int most, int *length_out)
{
    assert(most > 0);
    size_t n = strnlen(from, (size_t)most - 1);
    memcpy(to, from, n);
    to[n] = 0;
    if (length_out) *length_out = (int)n;
}

/* ---- attributes ---- */
enum { FLAVORS = MPI_WIN_FLAVOR_SHARED - MPI_WIN_FLAVOR_CREATE + 1, MODELS = MPI_WIN_SEPARATE - MPI_WIN_UNIFIED + 1 };
_Static_assert(FLAVORS == 4 && MODELS == 2, "all kinds of windows, in a row");

/* The library answers where the number is.  What is a constant is shown in the door's own variables; those that differ between
 * windows have one for each value.  Several threads may write the same number there, and the program reads it: orders are relaxed, as
 * nothing else hangs at it. */
void door_attribute_out(int client_keyval, void *address_of_value)
{
    static _Atomic(int) host, io, last_code, flavors[FLAVORS], models[MODELS];
    _Static_assert(sizeof host == sizeof(int), "the program reads an int");
    int keyval = door_keyval_in(client_keyval);
    const int *of;
    _Atomic(int) *at;
    memcpy(&of, address_of_value, sizeof of);
    if (!of || keyval < MPI_TAG_UB || keyval > MPI_WIN_MODEL) return;
    int value = *of;
    switch (keyval) {
    case MPI_HOST: at = &host, value = door_rank_out(value); break;
    case MPI_IO: at = &io, value = door_rank_out(value); break;
    case MPI_LASTUSEDCODE: at = &last_code, value = door_code_out(value); break;
    case MPI_WIN_CREATE_FLAVOR:
        assert(value >= MPI_WIN_FLAVOR_CREATE && value - MPI_WIN_FLAVOR_CREATE < FLAVORS);
        at = &flavors[value - MPI_WIN_FLAVOR_CREATE], value = door_flavor_out(value);
        break;
    case MPI_WIN_MODEL:
        assert(value >= MPI_WIN_UNIFIED && value - MPI_WIN_UNIFIED < MODELS);
        at = &models[value - MPI_WIN_UNIFIED], value = door_winmodel_out(value);
        break;
    default: return;
    }
    atomic_store_explicit(at, value, memory_order_relaxed);
    memcpy(address_of_value, &at, sizeof at);
}

/* ---- what is the same with every other ABI ---- */
/* All forms of a status are the same integers; one that says that it is of no interest has none. */
static int status_copy(void *to, const void *from)
{
    if (door_is_no_status(to) || door_is_no_status(from)) return CLIENT_ERR_ARG;
    memmove(to, from, sizeof(client_Status));
    return MPI_SUCCESS;
}
DOOR_OWN(int, Status_c2f, (const client_Status *c, int *f)) { return status_copy(f, c); }
DOOR_OWN(int, Status_f2c, (const int *f, client_Status *c)) { return status_copy(c, f); }
DOOR_OWN(int, Status_c2f08, (const client_Status *c, client_F08_status *f)) { return status_copy(f, c); }
DOOR_OWN(int, Status_f082c, (const client_F08_status *f, client_Status *c)) { return status_copy(c, f); }
DOOR_OWN(int, Status_f082f, (const client_F08_status *f08, int *f)) { return status_copy(f, f08); }
DOOR_OWN(int, Status_f2f08, (const int *f, client_F08_status *f08)) { return status_copy(f08, f); }

DOOR_OWN(int, Abi_get_version, (int *major, int *minor))
{
    *major = *minor = -1; /* this is not the standard ABI */
    return MPI_SUCCESS;
}
