/* hand.c -- entry points that no rule describes: texts with a length of their own, callbacks, attributes, spawning.
 *
 * Compiled twice, as the generated ones.  A routine without a choice buffer has one body for mpif.h, mpi and mpi_f08: handles and
 * statuses of mpi_f08 have the layout of the INTEGERs, and ierror may be absent everywhere.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fort.h"

#define WITH_F08(name) FORT_ALIAS(name##f08_, name)

/* ---- begin ---- */
void F(init_)(int *ierror)
{
    int rc = C(Init)(NULL, NULL);
    if (rc == MPI_SUCCESS) fort_started();
    fort_return(ierror, rc);
}
WITH_F08(init_);

void F(init_thread_)(const int *required, int *provided, int *ierror)
{
    int rc = C(Init_thread)(NULL, NULL, *required, provided);
    if (rc == MPI_SUCCESS) fort_started();
    fort_return(ierror, rc);
}
WITH_F08(init_thread_);

void F(pcontrol_)(const int *level) { C(Pcontrol)(*level); }
WITH_F08(pcontrol_);

/* ---- functions with values ---- */
double F(wtime_)(void) { return C(Wtime)(); }
WITH_F08(wtime_);
double F(wtick_)(void) { return C(Wtick)(); }
WITH_F08(wtick_);
MPI_Aint F(aint_add_)(const MPI_Aint *base, const MPI_Aint *disp) { return C(Aint_add)(*base, *disp); }
WITH_F08(aint_add_);
MPI_Aint F(aint_diff_)(const MPI_Aint *a, const MPI_Aint *b) { return C(Aint_diff)(*a, *b); }
WITH_F08(aint_diff_);

/* ---- what is of Fortran alone ---- */
void F(sizeof_f08ts_)(const struct fort_desc *x, int *size, int *ierror)
{
    *size = (int)x->elem_len;
    fort_return(ierror, MPI_SUCCESS);
}

/* The call itself is the effect: the compiler must have the buffer in memory. */
void F(f_sync_reg_)(void *buf) { (void)buf; }
void F(f_sync_reg_f08ts_)(const struct fort_desc *buf) { (void)buf; }

void F(status_f2f08_)(const MPI_Status *f, MPI_Status *f08, int *ierror)
{
    *f08 = *f;
    fort_return(ierror, MPI_SUCCESS);
}
WITH_F08(status_f2f08_);
void F(status_f082f_)(const MPI_Status *f08, MPI_Status *f, int *ierror)
{
    *f = *f08;
    fort_return(ierror, MPI_SUCCESS);
}
WITH_F08(status_f082f_);

/* ---- info: lengths without the NUL ---- */
void F(info_get_)(const int *info, const char *key, const int *valuelen, char *value, int *flag, int *ierror, size_t key_len,
                  size_t value_len)
{
    struct fort_text k;
    char *c = malloc((size_t)(*valuelen > 0 ? *valuelen : 0) + 1);
    if (!c || !fort_text_in_stripped(&k, key, key_len)) {
        free(c);
        fort_return(ierror, fort_no_memory(MPI_COMM_SELF));
        return;
    }
    int rc = C(Info_get)(fort_info(*info), k.text, *valuelen, c, flag);
    if (rc == MPI_SUCCESS && *flag) fort_text_out(value, value_len, c);
    fort_text_free(&k);
    free(c);
    fort_return(ierror, rc);
}
WITH_F08(info_get_);

void F(info_get_string_)(const int *info, const char *key, int *buflen, char *value, int *flag, int *ierror, size_t key_len,
                         size_t value_len)
{
    struct fort_text k;
    int n = *buflen > 0 ? *buflen + 1 : *buflen;
    char *c = malloc((size_t)(n > 0 ? n : 0) + 1);
    if (!c || !fort_text_in_stripped(&k, key, key_len)) {
        free(c);
        fort_return(ierror, fort_no_memory(MPI_COMM_SELF));
        return;
    }
    int rc = C(Info_get_string)(fort_info(*info), k.text, &n, c, flag);
    if (rc == MPI_SUCCESS && *flag) {
        if (*buflen > 0) fort_text_out(value, value_len, c);
        *buflen = n - 1;
    }
    fort_text_free(&k);
    free(c);
    fort_return(ierror, rc);
}
WITH_F08(info_get_string_);

void F(session_get_nth_pset_)(const int *session, const int *info, const int *n, int *pset_len, char *name, int *ierror,
                              size_t name_len)
{
    int len = *pset_len > 0 ? *pset_len + 1 : *pset_len;
    char *c = malloc((size_t)(len > 0 ? len : 0) + 1);
    if (!c) {
        fort_return(ierror, fort_no_memory(MPI_COMM_SELF));
        return;
    }
    int rc = C(Session_get_nth_pset)(fort_session(*session), fort_info(*info), *n, &len, c);
    if (rc == MPI_SUCCESS) {
        if (*pset_len > 0) fort_text_out(name, name_len, c);
        *pset_len = len - 1;
    }
    free(c);
    fort_return(ierror, rc);
}
WITH_F08(session_get_nth_pset_);

/* ---- operations and error handlers ---- */
void F(op_create_)(fort_fn *fn, const int *commute, int *op, int *ierror)
{
    MPI_User_function *c;
    MPI_Op h = MPI_OP_NULL;
    int rc = fort_op_function(fn, &c);
    if (rc == MPI_SUCCESS) rc = C(Op_create)(c, *commute, &h);
    if (rc == MPI_SUCCESS) *op = fort_op_int(h);
    fort_return(ierror, rc);
}
WITH_F08(op_create_);

void F(op_create_c_f08_)(fort_fn *fn, const int *commute, int *op, int *ierror)
{
    MPI_User_function *c;
    MPI_Op h = MPI_OP_NULL;
    int rc = fort_op_function(fn, &c);
    if (rc == MPI_SUCCESS) rc = C(Op_create_c)((MPI_User_function_c *)(void (*)(void))c, *commute, &h);
    if (rc == MPI_SUCCESS) *op = fort_op_int(h);
    fort_return(ierror, rc);
}

#define ERRHANDLER(word, Type, owner)                                                                                              \
    void F(word##_create_errhandler_)(fort_fn * fn, int *errhandler, int *ierror)                                                  \
    {                                                                                                                              \
        MPI_Comm_errhandler_function *c;                                                                                           \
        MPI_Errhandler h = MPI_ERRHANDLER_NULL;                                                                                    \
        int rc = fort_error_function(fn, owner, &c);                                                                               \
        if (rc == MPI_SUCCESS) rc = C(Type##_create_errhandler)((MPI_##Type##_errhandler_function *)(fort_fn *)c, &h);             \
        if (rc == MPI_SUCCESS) *errhandler = fort_errhandler_int(h);                                                               \
        fort_return(ierror, rc);                                                                                                   \
    }                                                                                                                              \
    WITH_F08(word##_create_errhandler_)
ERRHANDLER(comm, Comm, FORT_COMM);
ERRHANDLER(win, Win, FORT_WIN);
ERRHANDLER(file, File, FORT_FILE);
ERRHANDLER(session, Session, FORT_SESSION);

/* ---- attributes ---- */
#define ATTRIBUTES(word, Type, handle)                                                                                             \
    void F(word##_create_keyval_)(fort_fn * copy, fort_fn * del, int *keyval, MPI_Aint *extra_state, int *ierror)                  \
    {                                                                                                                              \
        struct fort_keyval *k = fort_keyval(copy, del, (struct fort_extra){*extra_state, extra_state, false});                     \
        fort_return(ierror,                                                                                                        \
                    k ? C(Type##_create_keyval)(fort_##word##_copy, fort_##word##_delete, keyval, k)                               \
                      : fort_no_memory(MPI_COMM_SELF));                                                                            \
    }                                                                                                                              \
    WITH_F08(word##_create_keyval_);                                                                                               \
    void F(word##_set_attr_)(const int *h, const int *keyval, const MPI_Aint *value, int *ierror)                                  \
    {                                                                                                                              \
        void *box = fort_value_new(*value);                                                                                        \
        int rc = box ? C(Type##_set_attr)(handle(*h), fort_keyval_in(*keyval), box) : fort_no_memory(MPI_COMM_SELF);               \
        if (rc != MPI_SUCCESS) fort_value_free(box);                                                                               \
        fort_return(ierror, rc);                                                                                                   \
    }                                                                                                                              \
    WITH_F08(word##_set_attr_);                                                                                                    \
    void F(word##_get_attr_)(const int *h, const int *keyval, MPI_Aint *value, int *flag, int *ierror)                             \
    {                                                                                                                              \
        void *c = NULL;                                                                                                            \
        int key = fort_keyval_in(*keyval), rc = C(Type##_get_attr)(handle(*h), key, &c, flag);                                     \
        if (rc == MPI_SUCCESS && *flag) *value = fort_value_of(key, c);                                                            \
        fort_return(ierror, rc);                                                                                                   \
    }                                                                                                                              \
    WITH_F08(word##_get_attr_)
ATTRIBUTES(comm, Comm, fort_comm);
ATTRIBUTES(type, Type, fort_type);
ATTRIBUTES(win, Win, fort_win);

/* Those of MPI-1 have INTEGER values; for C they are the same attributes. */
void F(keyval_create_)(fort_fn *copy, fort_fn *del, int *keyval, int *extra_state, int *ierror)
{
    struct fort_keyval *k = fort_keyval(copy, del, (struct fort_extra){*extra_state, extra_state, true});
    fort_return(ierror, k ? C(Comm_create_keyval)(fort_comm_copy, fort_comm_delete, keyval, k) : fort_no_memory(MPI_COMM_SELF));
}

void F(keyval_free_)(int *keyval, int *ierror) { fort_return(ierror, C(Comm_free_keyval)(keyval)); }

void F(attr_put_)(const int *comm, const int *keyval, const int *value, int *ierror)
{
    MPI_Aint wide = *value;
    F(comm_set_attr_)(comm, keyval, &wide, ierror);
}

void F(attr_get_)(const int *comm, const int *keyval, int *value, int *flag, int *ierror)
{
    MPI_Aint wide = *value;
    *flag = 0;
    F(comm_get_attr_)(comm, keyval, &wide, flag, ierror);
    if (*flag) *value = (int)wide;
}

void F(attr_delete_)(const int *comm, const int *keyval, int *ierror)
{
    fort_return(ierror, C(Comm_delete_attr)(fort_comm(*comm), *keyval));
}

/* ---- generalized requests, data representations ---- */
void F(grequest_start_)(fort_fn *query, fort_fn *free_fn, fort_fn *cancel, MPI_Aint *extra_state, int *request, int *ierror)
{
    MPI_Request h = MPI_REQUEST_NULL;
    struct fort_grequest *g = malloc(sizeof *g);
    if (!g) {
        fort_return(ierror, fort_no_memory(MPI_COMM_SELF));
        return;
    }
    *g = (struct fort_grequest){query, free_fn, cancel, {*extra_state, extra_state, false}};
    int rc = C(Grequest_start)(fort_grequest_query, fort_grequest_free, fort_grequest_cancel, g, &h);
    if (rc == MPI_SUCCESS)
        *request = fort_request_int(h);
    else
        free(g);
    fort_return(ierror, rc);
}
WITH_F08(grequest_start_);

static struct fort_datarep *datarep(struct fort_text *t, const char *name, size_t len, fort_fn *read, fort_fn *write,
                                    fort_fn *extent, MPI_Aint *extra_state)
{
    if (!fort_text_in(t, name, len)) return NULL;
    struct fort_datarep *d = fort_datarep(&(struct fort_datarep){NULL, read, write, extent, {*extra_state, extra_state, false}});
    if (!d) fort_text_free(t);
    return d;
}

#define DATAREP(name, Fn, _c)                                                                                                      \
    void F(name)(const char *name_in, fort_fn *read, fort_fn *write, fort_fn *extent, MPI_Aint *extra_state, int *ierror,          \
                 size_t name_len)                                                                                                  \
    {                                                                                                                              \
        struct fort_text t;                                                                                                        \
        struct fort_datarep *d = datarep(&t, name_in, name_len, read, write, extent, extra_state);                                 \
        if (!d) {                                                                                                                  \
            fort_return(ierror, fort_no_memory(MPI_COMM_SELF));                                                                    \
            return;                                                                                                                \
        }                                                                                                                          \
        MPI_Datarep_conversion_function##_c *r =                                                                                   \
            fort_is_null_conversion(read) ? MPI_CONVERSION_FN_NULL##Fn : fort_datarep_read##_c;                                    \
        MPI_Datarep_conversion_function##_c *w =                                                                                   \
            fort_is_null_conversion(write) ? MPI_CONVERSION_FN_NULL##Fn : fort_datarep_write##_c;                                  \
        int rc = C(Register_datarep##_c)(t.text, r, w, fort_datarep_extent, d);                                                    \
        fort_text_free(&t);                                                                                                        \
        fort_return(ierror, rc);                                                                                                   \
    }
DATAREP(register_datarep_, , )
WITH_F08(register_datarep_);
DATAREP(register_datarep_c_f08_, _C, _c)

/* ---- spawning: arrays of texts ---- */
static bool is_blank(const char *f, size_t len)
{
    fort_text_strip(f, &len);
    return len == 0;
}

/* The texts at f, f + step ...: n, or up to a blank one where n < 0, without blanks at either end (MPI 4.1 section 11.8.2).  One block
 * from malloc, NULL at its end. */
static char **texts(const char *f, size_t len, size_t step, int n)
{
    if (n < 0)
        for (n = 0; !is_blank(f + (size_t)n * step, len);) n++;
    char **c = malloc(((size_t)n + 1) * sizeof *c + (size_t)n * (len + 1));
    char *at = c ? (char *)(c + n + 1) : NULL;
    for (int i = 0; c && i < n; i++, at += len + 1) {
        size_t k = len;
        const char *word = fort_text_strip(f + (size_t)i * step, &k);
        memcpy(at, word, k);
        at[k] = 0;
        c[i] = at;
    }
    if (c) c[n] = NULL;
    return c;
}

static bool is_root(MPI_Comm comm, int root)
{
    int me = -1;
    return PMPI_Comm_rank(comm, &me) == MPI_SUCCESS && me == root;
}

static int *errcodes(int *f) { return fort_is_sentinel(f) ? MPI_ERRCODES_IGNORE : f; }

void F(comm_spawn_)(const char *command, const char *argv, const int *maxprocs, const int *info, const int *root, const int *comm,
                    int *intercomm, int *codes, int *ierror, size_t command_len, size_t argv_len)
{
    MPI_Comm c = fort_comm(*comm), made = MPI_COMM_NULL;
    struct fort_text name;
    char **args = MPI_ARGV_NULL;
    bool here = is_root(c, *root), has_args = here && !fort_is_no_texts(argv);
    if (has_args) args = texts(argv, argv_len, argv_len, -1);
    if ((has_args && !args) || !fort_text_in_stripped(&name, command, here ? command_len : 0)) {
        free(args);
        fort_return(ierror, fort_no_memory(c));
        return;
    }
    int rc = C(Comm_spawn)(name.text, args, *maxprocs, fort_info(*info), *root, c, &made, errcodes(codes));
    if (rc == MPI_SUCCESS) *intercomm = fort_comm_int(made);
    if (has_args) free(args);
    fort_text_free(&name);
    fort_return(ierror, rc);
}
WITH_F08(comm_spawn_);

/* argvs is the Fortran array (count, *): the words of a command stand `count` texts apart. */
static char ***argument_lists(const char *argvs, size_t len, int count)
{
    char ***c = calloc((size_t)count + 1, sizeof *c);
    for (int i = 0; c && i < count; i++) c[i] = texts(argvs + (size_t)i * len, len, (size_t)count * len, -1);
    return c;
}

void F(comm_spawn_multiple_)(const int *count, const char *commands, const char *argvs, const int *maxprocs, const int *infos,
                             const int *root, const int *comm, int *intercomm, int *codes, int *ierror, size_t command_len,
                             size_t argv_len)
{
    MPI_Comm c = fort_comm(*comm), made = MPI_COMM_NULL;
    bool here = is_root(c, *root), has_args = here && !fort_is_no_texts(argvs);
    int n = here && *count > 0 ? *count : 0;
    char **names = texts(commands, command_len, command_len, n), ***args = has_args ? argument_lists(argvs, argv_len, n) : NULL;
    MPI_Info few[FORT_FEW], *c_infos = fort_infos(few, infos, n);
    int rc = names && c_infos && (args || !has_args) ? C(Comm_spawn_multiple)(*count, names, has_args ? args : MPI_ARGVS_NULL,
                                                                              maxprocs, c_infos, *root, c, &made, errcodes(codes))
                                                     : fort_no_memory(c);
    if (rc == MPI_SUCCESS) *intercomm = fort_comm_int(made);
    for (int i = 0; args && i < n; i++) free(args[i]);
    free(args);
    free(names);
    fort_array_free(c_infos, few);
    fort_return(ierror, rc);
}
WITH_F08(comm_spawn_multiple_);

/* ---- the other names of all these ---- */
#include "hand_forms.h"
