/* threads_sessions.h -- scenes of threads_every.c: sessions that threads begin and end while others use MPI.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "threads_every.h"

static void on_session_error(MPI_Session *s, int *code, ...)
{
    (void)s;
    handled += *code == MPI_ERR_OTHER;
}

static MPI_Session session_of(struct th *th)
{
    MPI_Session s = MPI_SESSION_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    NOERR(MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &s));
    MPI_Info_free(&info);
    return s;
}

static void scene_session(struct th *th)
{
    MPI_Session s = session_of(th);
    MPI_Group g;
    MPI_Comm c;
    MPI_Info info;
    MPI_Errhandler h, got;
    char tag[32], name[MPI_MAX_PSET_NAME_LEN] = "", value[16] = "";
    int n = 0, len = sizeof name, flag = 0;
    SO(MPI_Session_fromint(MPI_Session_toint(s)) == s);
    SO(MPI_Session_f2c(MPI_Session_c2f(s)) == s);
    MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n);
    SO(n >= 2);
    MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 0, &len, name);
    SO(name[0]);
    MPI_Session_get_pset_info(s, "mpi://WORLD", &info);
    len = sizeof value;
    MPI_Info_get_string(info, "mpi_size", &len, value, &flag);
    EQ(atoi(value), size);
    MPI_Info_free(&info);
    MPI_Session_get_info(s, &info);
    MPI_Info_free(&info);
    MPI_Session_create_errhandler(on_session_error, &h);
    MPI_Session_set_errhandler(s, h);
    MPI_Errhandler_free(&h);
    handled = 0;
    MPI_Session_call_errhandler(s, MPI_ERR_OTHER);
    EQ(handled, 1);
    MPI_Session_get_errhandler(s, &got);
    MPI_Errhandler_free(&got);

    snprintf(tag, sizeof tag, "thread %d", th->t);
    MPI_Group_from_session_pset(s, "mpi://WORLD", &g);
    NOERR(MPI_Comm_create_from_group(g, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &c));
    comm_works(th, c, size);

    /* Its buffer. */
    int bytes = 1000 + MPI_BSEND_OVERHEAD, back_bytes = 0, r = 0;
    void *buffer = malloc((size_t)bytes), *back = NULL;
    MPI_Count back_count = 0;
    MPI_Request q;
    MPI_Session_attach_buffer(s, buffer, bytes);
    MPI_Comm_rank(c, &r);
    pattern_fill(th->a, 1000, seed_of(r, th->t, 5));
    MPI_Bsend(th->a, 1000, MPI_BYTE, (r + 1) % size, 1, c);
    MPI_Recv(th->b, 1000, MPI_BYTE, (r + size - 1) % size, 1, c, MPI_STATUS_IGNORE);
    EQ(pattern_wrong(th->b, 1000, seed_of((r + size - 1) % size, th->t, 5)), -1);
    MPI_Session_flush_buffer(s);
    MPI_Session_iflush_buffer(s, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    if (th->turns++ % 2) {
        MPI_Session_detach_buffer_c(s, &back, &back_count);
        back_bytes = (int)back_count;
    } else {
        MPI_Session_detach_buffer(s, &back, &back_bytes);
    }
    SO(back == buffer && back_bytes == bytes);
    free(buffer);
    MPI_Comm_free(&c);

    /* The lower and the upper half as an intercommunicator. */
    int low = (size + 1) / 2, is_low = rank < low, low_ranks[1][3] = {{0, low - 1, 1}}, got_size = 0;
    if (size > 1) {
        MPI_Group lows, highs;
        MPI_Comm inter;
        MPI_Group_range_incl(g, 1, low_ranks, &lows);
        MPI_Group_range_excl(g, 1, low_ranks, &highs);
        NOERR(MPI_Intercomm_create_from_groups(is_low ? lows : highs, 0, is_low ? highs : lows, 0, tag, MPI_INFO_NULL,
                                               MPI_ERRORS_ARE_FATAL, &inter));
        MPI_Comm_remote_size(inter, &got_size);
        EQ(got_size, is_low ? size - low : low);
        MPI_Comm_free(&inter);
        MPI_Group_free(&lows);
        MPI_Group_free(&highs);
    }
    MPI_Group_free(&g);
    NOERR(MPI_Session_finalize(&s));
    SO(s == MPI_SESSION_NULL);
}
