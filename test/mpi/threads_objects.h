/* threads_objects.h -- scenes of threads_every.c: info, errors and their handlers, the environment, handles as integers.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "threads_every.h"

static MPI_Info common_info; /* key "all" is "threads" */

static void scene_info(struct th *th)
{
    MPI_Info info, copy;
    char key[MPI_MAX_INFO_KEY + 1], value[64], want[32];
    int n = 0, flag = 0, len = 0;
    MPI_Info_create(&info);
    for (int i = 0; i < 20; i++) {
        snprintf(key, sizeof key, "key %d", i);
        snprintf(want, sizeof want, "value %d of %d", i, th->t);
        MPI_Info_set(info, key, want);
    }
    MPI_Info_get_nkeys(info, &n);
    EQ(n, 20);
    MPI_Info_get_nthkey(info, 7, key);
    EQ(strcmp(key, "key 7"), 0);
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "key 3");
    MPI_Info_get(info, "key 3", 63, value, &flag);
    EQ(flag, 0);
    snprintf(want, sizeof want, "value 3 of %d", th->t);
    MPI_Info_get(copy, "key 3", 63, value, &flag);
    SO(flag && strcmp(value, want) == 0);
    MPI_Info_get_valuelen(copy, "key 3", &len, &flag);
    EQ(len, (int)strlen(want));
    SO(MPI_Info_fromint(MPI_Info_toint(info)) == info);
    SO(MPI_Info_f2c(MPI_Info_c2f(info)) == info);
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    len = sizeof value;
    MPI_Info_get_string(common_info, "all", &len, value, &flag);
    SO(flag && strcmp(value, "threads") == 0);
    char *argv[] = {"program", NULL};
    MPI_Info_create_env(1, argv, &info);
    MPI_Info_free(&info);
    len = sizeof value;
    MPI_Info_get_string(MPI_INFO_ENV, "maxprocs", &len, value, &flag);
    MPI_Get_hw_resource_info(&info);
    MPI_Info_free(&info);
}

static void scene_error_codes(struct th *th)
{
    int class = 0, code = 0, got = 0, len = 0, held = 0, flag = 0;
    char text[MPI_MAX_ERROR_STRING], want[40];
    void *last;
    MPI_Error_class(MPI_ERR_TAG, &class);
    EQ(class, MPI_ERR_TAG);
    MPI_Error_string(MPI_ERR_TAG, text, &len);
    SO(len > 0);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &held);
    SO(held && __atomic_load_n((int *)last, __ATOMIC_RELAXED) >= code); /* other threads make codes, too */
    snprintf(want, sizeof want, "what thread %d does", th->t);
    MPI_Add_error_string(code, want);
    MPI_Error_string(code, text, &len);
    EQ(strcmp(text, want), 0);
    MPI_Error_class(code, &got);
    EQ(got, class);
    flag = MPI_Remove_error_string(code);
    EQ(flag, MPI_SUCCESS);
    MPI_Remove_error_code(code);
    MPI_Remove_error_class(class);
}

static _Thread_local int handled;
static void on_error(MPI_Comm *c, int *code, ...)
{
    (void)c;
    handled += *code == MPI_ERR_OTHER;
}
static void on_win_error(MPI_Win *w, int *code, ...)
{
    (void)w;
    handled += *code == MPI_ERR_OTHER;
}
static void on_file_error(MPI_File *f, int *code, ...)
{
    (void)f;
    handled += *code == MPI_ERR_OTHER;
}
/* Handlers of one's own communicator, and, called by all at once, that of `shared` (main has set it). */
static void scene_handlers(struct th *th)
{
    MPI_Errhandler h, got;
    MPI_Comm c;
    handled = 0;
    MPI_Comm_dup(th->self, &c);
    MPI_Comm_create_errhandler(on_error, &h);
    SO(MPI_Errhandler_fromint(MPI_Errhandler_toint(h)) == h);
    SO(MPI_Errhandler_f2c(MPI_Errhandler_c2f(h)) == h);
    MPI_Comm_set_errhandler(c, h);
    MPI_Errhandler_free(&h);
    MPI_Comm_call_errhandler(c, MPI_ERR_OTHER);
    MPI_Comm_get_errhandler(c, &got);
    MPI_Comm_free(&c);
    MPI_Comm_call_errhandler(shared, MPI_ERR_OTHER);
    EQ(handled, 2);
    MPI_Comm_dup(th->self, &c);
    MPI_Comm_set_errhandler(c, got);
    MPI_Errhandler_free(&got);
    SO(MPI_Send(NULL, 0, MPI_INT, 5, 0, c) != MPI_SUCCESS); /* rank 5 is not there */
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    int class = 0;
    MPI_Error_class(MPI_Recv(NULL, 0, MPI_INT, 5, 0, c, MPI_STATUS_IGNORE), &class);
    EQ(class, MPI_ERR_RANK);
    EQ(handled, 2);
    MPI_Comm_free(&c);
    MPI_File_create_errhandler(on_file_error, &h);
    MPI_Errhandler_free(&h);
    MPI_Win_create_errhandler(on_win_error, &h);
    MPI_Errhandler_free(&h);
}

static void scene_environment(struct th *th)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int a = -1, b = -1, flag = -1;
    void *p = NULL;
    MPI_Initialized(&flag);
    EQ(flag, 1);
    MPI_Finalized(&flag);
    EQ(flag, 0);
    MPI_Query_thread(&a);
    EQ(a, MPI_THREAD_MULTIPLE);
    MPI_Is_thread_main(&flag);
    EQ(flag, 0);
    MPI_Get_processor_name(text, &a);
    SO(a > 0 && text[0]);
    MPI_Get_version(&a, &b);
    EQ(a, MPI_VERSION);
    MPI_Get_library_version(text, &a);
    SO(a > 0);
    SO(MPI_Wtick() > 0 && MPI_Wtick() < 1);
    double t0 = MPI_Wtime();
    SO(MPI_Wtime() >= t0);
    MPI_Alloc_mem(1000, MPI_INFO_NULL, &p);
    memset(p, th->t, 1000);
    sched_yield();
    EQ(((unsigned char *)p)[999], th->t);
    MPI_Free_mem(p);
    MPI_Pcontrol(1);
    MPI_Abi_get_version(&a, &b);
    EQ(a, MPI_ABI_VERSION);
    MPI_Info info;
    MPI_Abi_get_info(&info);
    MPI_Info_free(&info);
    MPI_Abi_get_fortran_info(&info);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    int t = 0, f = 0;
    MPI_Abi_get_fortran_booleans(4, &t, &f, &flag);
    SO(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    SO(MPI_Session_f2c(MPI_Session_c2f(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
}
/* What a process may do once. */
static void scene_once(struct th *th)
{
    static int is_done;
    MPI_Info info;
    int t = 1, f = 0, got_t = -1, got_f = -1, flag = 0;
    if (is_done++) return;
    MPI_Info_create(&info);
    MPI_Abi_set_fortran_info(info);
    MPI_Info_free(&info);
    MPI_Abi_set_fortran_booleans(4, &t, &f);
    MPI_Abi_get_fortran_booleans(4, &got_t, &got_f, &flag);
    SO(flag && got_t == 1 && got_f == 0);
}
