/* threads_files_windows.h -- scenes of threads_every.c: one-sided communication and files.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "threads_every.h"

/* ---- one window that all threads of all ranks use: a counter at rank 0, a block for each thread of each rank ----------------- */
enum { COMMON_BLOCK = 400 };
static MPI_Win common_win;
static _Atomic long long counted; /* the sum of what the threads of this rank drew */
static _Atomic int draws;

static void scene_common_window(struct th *th)
{
    int64_t one = 1, old = -1;
    MPI_Aint block = 16 + ((MPI_Aint)rank * MAX_THREADS + th->t) * COMMON_BLOCK;
    for (int i = 0; i < 5; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, 0, MPI_SUM, common_win);
        MPI_Win_flush(0, common_win);
        atomic_fetch_add(&counted, old);
        atomic_fetch_add(&draws, 1);
        pattern_fill(th->a, COMMON_BLOCK, seed_of(rank, th->t, i));
        memset(th->b, 0, COMMON_BLOCK);
        MPI_Put(th->a, COMMON_BLOCK, MPI_BYTE, th->right, block, COMMON_BLOCK, MPI_BYTE, common_win);
        MPI_Win_flush(th->right, common_win);
        MPI_Get(th->b, COMMON_BLOCK, MPI_BYTE, th->right, block, COMMON_BLOCK, MPI_BYTE, common_win);
        MPI_Win_flush_local(th->right, common_win);
        EQ(pattern_wrong(th->b, COMMON_BLOCK, seed_of(rank, th->t, i)), -1);
    }
}

/* ---- windows of one's own ---------------------------------------------------------------------------------------------------- */
struct win {
    MPI_Win w;
    int *base;
    void *own;
    MPI_Aint at; /* of the right neighbour */
};
static void win_make(struct th *th, struct win *w, int kind, int ints)
{
    MPI_Aint bytes = 4 * ints, here = 0;
    *w = (struct win){.at = 0};
    if (kind == 0 || kind == 3) w->own = w->base = malloc((size_t)bytes);
    if (kind == 0) MPI_Win_create(w->base, bytes, 1, MPI_INFO_NULL, th->own, &w->w);
    if (kind == 1) MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, th->own, &w->base, &w->w);
    if (kind == 2) MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, th->own, &w->base, &w->w);
    if (kind == 3) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, th->own, &w->w);
        MPI_Win_attach(w->w, w->base, bytes);
        MPI_Get_address(w->base, &here);
        MPI_Sendrecv(&here, 1, MPI_AINT, th->left, 0, &w->at, 1, MPI_AINT, th->right, 0, th->own, MPI_STATUS_IGNORE);
    }
}
static void win_drop(struct th *th, struct win *w, int kind)
{
    MPI_Barrier(th->own);
    if (kind == 3) MPI_Win_detach(w->w, w->base);
    MPI_Win_free(&w->w);
    SO(w->w == MPI_WIN_NULL);
    free(w->own);
}
enum { INTS = 64 };
/* base[i] must be what the left neighbour put: f(left, i). */
static void win_holds(struct th *th, struct win *w, int n, int factor, int offset)
{
    for (int i = 0; i < n; i++) EQ(w->base[i], factor * (th->left * 1000 + i) + offset);
}
static void scene_fences(struct th *th)
{
    int kind = th->turns++ % 4, a[INTS], b[INTS];
    struct win w;
    win_make(th, &w, kind, INTS);
    for (int i = 0; i < INTS; i++) a[i] = rank * 1000 + i, b[i] = -1, w.base[i] = 0;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w.w);
    MPI_Put(a, INTS, MPI_INT, th->right, w.at, INTS, MPI_INT, w.w);
    MPI_Win_fence(0, w.w);
    win_holds(th, &w, INTS, 1, 0);
    MPI_Get(b, INTS, MPI_INT, th->right, w.at, INTS, MPI_INT, w.w);
    MPI_Win_fence(0, w.w);
    for (int i = 0; i < INTS; i++) EQ(b[i], a[i]);
    MPI_Accumulate(a, INTS, MPI_INT, th->right, w.at, INTS, MPI_INT, MPI_SUM, w.w);
    MPI_Win_fence(0, w.w);
    win_holds(th, &w, INTS, 2, 0);
    MPI_Win_fence(0, w.w);
    MPI_Get_accumulate(a, INTS, MPI_INT, b, INTS, MPI_INT, th->right, w.at, INTS, MPI_INT, MPI_REPLACE, w.w);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w.w);
    win_holds(th, &w, INTS, 1, 0);
    for (int i = 0; i < INTS; i++) EQ(b[i], 2 * a[i]);
    win_drop(th, &w, kind);
}
static void scene_locks(struct th *th)
{
    int kind = th->turns++ % 4, a[INTS], b[INTS], c[INTS];
    struct win w;
    MPI_Request q[4];
    win_make(th, &w, kind, INTS);
    for (int i = 0; i < INTS; i++) a[i] = rank * 1000 + i, b[i] = c[i] = -1, w.base[i] = 0;
    MPI_Barrier(th->own);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, th->right, 0, w.w);
    MPI_Rput(a, INTS, MPI_INT, th->right, w.at, INTS, MPI_INT, w.w, &q[0]);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    MPI_Win_flush(th->right, w.w);
    MPI_Rget(b, INTS, MPI_INT, th->right, w.at, INTS, MPI_INT, w.w, &q[0]);
    complete(th, (int)below(th, 12), 1, q);
    for (int i = 0; i < INTS; i++) EQ(b[i], a[i]);
    MPI_Win_unlock(th->right, w.w);
    MPI_Win_lock_all(0, w.w);
    MPI_Raccumulate(a, INTS, MPI_INT, th->right, w.at, INTS, MPI_INT, MPI_SUM, w.w, &q[0]);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    MPI_Win_flush_all(w.w);
    MPI_Rget_accumulate(a, INTS, MPI_INT, c, INTS, MPI_INT, th->right, w.at, INTS, MPI_INT, MPI_NO_OP, w.w, &q[0]);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < INTS; i++) EQ(c[i], 2 * a[i]);
    int mine = 5, seen = -1, expected = 2 * a[3];
    MPI_Compare_and_swap(&mine, &expected, &seen, MPI_INT, th->right, w.at + 12, w.w);
    MPI_Win_flush_local_all(w.w);
    EQ(seen, expected);
    MPI_Win_sync(w.w);
    MPI_Win_unlock_all(w.w);
    MPI_Barrier(th->own);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w.w);
    EQ(w.base[3], 5);
    EQ(w.base[4], 2 * (th->left * 1000 + 4));
    MPI_Win_unlock(rank, w.w);
    win_drop(th, &w, kind);
}
static void scene_post_start(struct th *th)
{
    int kind = th->turns++ % 4, a[INTS], flag = 0;
    struct win w;
    MPI_Group g, left, right;
    win_make(th, &w, kind, INTS);
    MPI_Win_get_group(w.w, &g);
    MPI_Group_incl(g, 1, &th->left, &left);
    MPI_Group_incl(g, 1, &th->right, &right);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < INTS; i++) a[i] = rank * 1000 + i + round;
        MPI_Win_post(left, 0, w.w);
        MPI_Win_start(right, 0, w.w);
        MPI_Put(a, INTS, MPI_INT, th->right, w.at, INTS, MPI_INT, w.w);
        MPI_Win_complete(w.w);
        if (round % 2)
            MPI_Win_wait(w.w);
        else
            for (flag = 0; !flag;) MPI_Win_test(w.w, &flag);
        win_holds(th, &w, INTS, 1, round);
    }
    MPI_Group_free(&g);
    MPI_Group_free(&left);
    MPI_Group_free(&right);
    win_drop(th, &w, kind);
}
static int win_copied(MPI_Win w, int key, void *extra, void *in, void *out, int *flag)
{
    (void)w, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}
static int win_deleted(MPI_Win w, int key, void *value, void *extra)
{
    (void)w, (void)key, (void)value;
    if (extra) ++*(int *)extra;
    return MPI_SUCCESS;
}
static void scene_win_properties(struct th *th)
{
    int *base = NULL, unit = 0, key = 0, flag = 0, len = 0, deleted = 0, *model = NULL;
    char name[MPI_MAX_OBJECT_NAME], mark[2], *value = NULL;
    MPI_Aint bytes = 0, wide_unit = 0;
    MPI_Win w;
    MPI_Info info;
    MPI_Errhandler h;
    MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, th->own, &base, &w);
    for (int i = 0; i < 16; i++) base[i] = rank * 100 + i;
    MPI_Win_fence(0, w);
    int *theirs = NULL;
    MPI_Win_shared_query(w, th->right, &bytes, &unit, &theirs);
    SO(bytes == 64 && unit == 4 && theirs);
    EQ(theirs[15], th->right * 100 + 15);
    MPI_Win_shared_query_c(w, th->left, &bytes, &wide_unit, &theirs);
    EQ(wide_unit, 4);
    EQ(theirs[0], th->left * 100);
    MPI_Win_set_name(w, "window");
    MPI_Win_get_name(w, name, &len);
    EQ(strcmp(name, "window"), 0);
    MPI_Win_get_info(w, &info);
    MPI_Win_set_info(w, info);
    MPI_Info_free(&info);
    MPI_Win_create_keyval(win_copied, win_deleted, &key, &deleted);
    MPI_Win_set_attr(w, key, mark);
    MPI_Win_get_attr(w, key, &value, &flag);
    SO(flag && value == mark);
    MPI_Win_delete_attr(w, key);
    EQ(deleted, 1);
    MPI_Win_set_attr(w, win_keyval_common, mark);
    MPI_Win_get_attr(w, MPI_WIN_MODEL, &model, &flag);
    SO(flag && *model == MPI_WIN_UNIFIED);
    MPI_Win_free_keyval(&key);
    MPI_Win_create_errhandler(on_win_error, &h);
    MPI_Win_set_errhandler(w, h);
    MPI_Errhandler_free(&h);
    handled = 0;
    MPI_Win_call_errhandler(w, MPI_ERR_OTHER);
    EQ(handled, 1);
    MPI_Win_get_errhandler(w, &h);
    MPI_Errhandler_free(&h);
    SO(MPI_Win_fromint(MPI_Win_toint(w)) == w);
    SO(MPI_Win_f2c(MPI_Win_c2f(w)) == w);
    MPI_Win_fence(0, w);
    MPI_Win_free(&w);
}

/* ---- files: one of each thread of all ranks, and one that all threads use ---------------------------------------------------- */
static MPI_File common_file;
static char folder[200];

static const char *file_of(struct th *th, char *path, const char *what)
{
    snprintf(path, 256, "%s/%s.%d", folder, what, th->t);
    return path;
}
static MPI_File file_open(struct th *th, const char *what)
{
    char path[256];
    MPI_File f;
    NOERR(MPI_File_open(th->own, file_of(th, path, what), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    return f;
}
static void file_drop(struct th *th, MPI_File *f, const char *what)
{
    char path[256];
    NOERR(MPI_File_close(f));
    if (rank == 0) NOERR(MPI_File_delete(file_of(th, path, what), MPI_INFO_NULL));
    MPI_Barrier(th->own);
}
/* A block of each thread of each rank in the common file. */
static void scene_common_file(struct th *th)
{
    enum { BLOCK = 3000 };
    MPI_Offset at = ((MPI_Offset)rank * MAX_THREADS + th->t) * BLOCK;
    MPI_Status st;
    MPI_Request q;
    pattern_fill(th->a, BLOCK, seed_of(rank, th->t, 0));
    memset(th->b, 0, BLOCK);
    NOERR(MPI_File_write_at(common_file, at, th->a, BLOCK, MPI_BYTE, &st));
    EQ(count_of(&st), BLOCK);
    NOERR(MPI_File_iread_at(common_file, at, th->b, BLOCK, MPI_BYTE, &q));
    MPI_Wait(&q, &st);
    EQ(count_of(&st), BLOCK);
    EQ(pattern_wrong(th->b, BLOCK, seed_of(rank, th->t, 0)), -1);
    pattern_fill(th->a, BLOCK, seed_of(rank, th->t, 1));
    memset(th->b, 0, BLOCK);
    NOERR(MPI_File_iwrite_at(common_file, at, th->a, BLOCK, MPI_BYTE, &q));
    MPI_Wait(&q, &st);
    NOERR(MPI_File_read_at(common_file, at, th->b, BLOCK, MPI_BYTE, &st));
    EQ(pattern_wrong(th->b, BLOCK, seed_of(rank, th->t, 1)), -1);
}
static void scene_file_properties(struct th *th)
{
    MPI_File f = file_open(th, "properties");
    MPI_Offset n = 0, at = -1;
    MPI_Group g;
    MPI_Info info;
    MPI_Datatype etype, filetype;
    MPI_Aint extent = 0;
    MPI_Count extent_c = 0;
    MPI_Errhandler h;
    char rep[MPI_MAX_DATAREP_STRING];
    int amode = 0, flag = -1, size_of_group = 0;
    NOERR(MPI_File_set_size(f, 1000));
    NOERR(MPI_File_get_size(f, &n));
    EQ(n, 1000);
    NOERR(MPI_File_preallocate(f, 2000));
    MPI_File_get_group(f, &g);
    MPI_Group_size(g, &size_of_group);
    EQ(size_of_group, size);
    MPI_Group_free(&g);
    MPI_File_get_amode(f, &amode);
    EQ(amode, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File_get_info(f, &info);
    NOERR(MPI_File_set_info(f, info));
    MPI_Info_free(&info);
    NOERR(MPI_File_set_atomicity(f, 1));
    MPI_File_get_atomicity(f, &flag);
    EQ(flag, 1);
    NOERR(MPI_File_sync(f));
    NOERR(MPI_File_set_view(f, 8, MPI_INT, common_type, "native", MPI_INFO_NULL));
    MPI_File_get_view(f, &at, &etype, &filetype, rep);
    SO(at == 8 && etype == MPI_INT && strcmp(rep, "native") == 0);
    MPI_Type_free(&filetype);
    NOERR(MPI_File_get_byte_offset(f, 1, &at));
    EQ(at, 8 + 12);
    MPI_File_get_type_extent(f, MPI_DOUBLE, &extent);
    EQ(extent, 8);
    MPI_File_get_type_extent_c(f, MPI_DOUBLE, &extent_c);
    EQ(extent_c, 8);
    MPI_File_create_errhandler(on_file_error, &h);
    MPI_File_set_errhandler(f, h);
    MPI_Errhandler_free(&h);
    handled = 0;
    MPI_File_call_errhandler(f, MPI_ERR_OTHER);
    EQ(handled, 1);
    MPI_File_get_errhandler(f, &h);
    MPI_Errhandler_free(&h);
    SO(MPI_File_fromint(MPI_File_toint(f)) == f);
    SO(MPI_File_f2c(MPI_File_c2f(f)) == f);
    file_drop(th, &f, "properties");
}
/* Each rank's own pointer, in its own part of the file. */
static void scene_file_pointers(struct th *th)
{
    enum { BLOCK = 500 };
    MPI_File f = file_open(th, "pointers");
    MPI_Offset at = -1;
    MPI_Status st;
    MPI_Request q;
    for (int i = 0; i < 2; i++) {
        pattern_fill(th->a, 2 * BLOCK, seed_of(rank, th->t, i));
        memset(th->b, 0, 2 * BLOCK);
        MPI_File_seek(f, 2 * BLOCK * rank, MPI_SEEK_SET);
        NOERR(MPI_File_write(f, th->a, BLOCK, MPI_BYTE, &st));
        NOERR(MPI_File_iwrite(f, th->a + BLOCK, BLOCK, MPI_BYTE, &q));
        MPI_Wait(&q, &st);
        MPI_File_get_position(f, &at);
        EQ(at, 2 * BLOCK * (rank + 1));
        MPI_File_seek(f, -2 * BLOCK, MPI_SEEK_CUR);
        NOERR(MPI_File_read(f, th->b, BLOCK, MPI_BYTE, &st));
        NOERR(MPI_File_iread(f, th->b + BLOCK, BLOCK, MPI_BYTE, &q));
        MPI_Wait(&q, &st);
        EQ(pattern_wrong(th->b, 2 * BLOCK, seed_of(rank, th->t, i)), -1);
    }
    file_drop(th, &f, "pointers");
}

/* ---- collective access ------------------------------------------------------------------------------------------------------- */
enum { FILE_BLOCK = 700 };
/* What `n` blocks of mine, read back from where they should be, hold; `a` is filled anew. */
static void file_holds(struct th *th, MPI_File f, MPI_Offset at, int bytes, unsigned seed)
{
    MPI_Status st;
    memset(th->b, 0, (size_t)bytes);
    MPI_File_read_at(f, at, th->b, bytes, MPI_BYTE, &st);
    EQ(count_of(&st), bytes);
    EQ(pattern_wrong(th->b, bytes, seed), -1);
    pattern_fill(th->a, bytes, seed + 1);
}
static void scene_file_collective(struct th *th)
{
    const int n = FILE_BLOCK;
    MPI_File f = file_open(th, "collective");
    MPI_Offset at = (MPI_Offset)n * rank;
    MPI_Status st;
    MPI_Request q;
    unsigned seed = seed_of(rank, th->t, 3);
    pattern_fill(th->a, n, seed);
    NOERR(MPI_File_write_at_all(f, at, th->a, n, MPI_BYTE, &st));
    file_holds(th, f, at, n, seed++);
    NOERR(MPI_File_write_at_all_begin(f, at, th->a, n, MPI_BYTE));
    NOERR(MPI_File_write_at_all_end(f, th->a, &st));
    file_holds(th, f, at, n, seed++);
    NOERR(MPI_File_iwrite_at_all(f, at, th->a, n, MPI_BYTE, &q));
    MPI_Wait(&q, &st);
    file_holds(th, f, at, n, seed++);
    MPI_File_seek(f, at, MPI_SEEK_SET);
    NOERR(MPI_File_write_all(f, th->a, n, MPI_BYTE, &st));
    file_holds(th, f, at, n, seed++);
    MPI_File_seek(f, at, MPI_SEEK_SET);
    NOERR(MPI_File_write_all_begin(f, th->a, n, MPI_BYTE));
    NOERR(MPI_File_write_all_end(f, th->a, &st));
    file_holds(th, f, at, n, seed++);
    MPI_File_seek(f, at, MPI_SEEK_SET);
    NOERR(MPI_File_iwrite_all(f, th->a, n, MPI_BYTE, &q));
    MPI_Wait(&q, &st);
    file_holds(th, f, at, n, seed);
    for (int how = 0; how < 6; how++) {
        memset(th->b, 0, (size_t)n);
        if (how >= 3) MPI_File_seek(f, at, MPI_SEEK_SET);
        if (how == 0) NOERR(MPI_File_read_at_all(f, at, th->b, n, MPI_BYTE, &st));
        if (how == 1) {
            NOERR(MPI_File_read_at_all_begin(f, at, th->b, n, MPI_BYTE));
            NOERR(MPI_File_read_at_all_end(f, th->b, &st));
        }
        if (how == 2) NOERR(MPI_File_iread_at_all(f, at, th->b, n, MPI_BYTE, &q));
        if (how == 3) NOERR(MPI_File_read_all(f, th->b, n, MPI_BYTE, &st));
        if (how == 4) {
            NOERR(MPI_File_read_all_begin(f, th->b, n, MPI_BYTE));
            NOERR(MPI_File_read_all_end(f, th->b, &st));
        }
        if (how == 5) NOERR(MPI_File_iread_all(f, th->b, n, MPI_BYTE, &q));
        if (how == 2 || how == 5) MPI_Wait(&q, &st);
        EQ(count_of(&st), n);
        EQ(pattern_wrong(th->b, n, seed), -1);
    }
    file_drop(th, &f, "collective");
}
/* Blocks fall where the pointer that all share stands; each says whose it is, and each must be there once. */
static void scene_file_shared(struct th *th)
{
    const int n = FILE_BLOCK;
    MPI_File f = file_open(th, "shared");
    MPI_Offset at = -1;
    MPI_Status st;
    MPI_Request q;
    int *a = (int *)th->a, *b = (int *)th->b;
    NOERR(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    NOERR(MPI_File_set_atomicity(f, 1));
    for (int i = 0; i < n; i++) a[i] = rank;
    NOERR(MPI_File_write_shared(f, a, n, MPI_INT, &st));
    MPI_Barrier(th->own);
    NOERR(MPI_File_iwrite_shared(f, a, n, MPI_INT, &q));
    MPI_Wait(&q, &st);
    MPI_Barrier(th->own);
    NOERR(MPI_File_write_ordered(f, a, n, MPI_INT, &st));
    NOERR(MPI_File_write_ordered_begin(f, a, n, MPI_INT));
    NOERR(MPI_File_write_ordered_end(f, a, &st));
    MPI_File_get_position_shared(f, &at);
    EQ(at, 4 * n * size);
    for (int k = 0; k < 4; k++) {
        MPI_Offset block = (MPI_Offset)n * size * k;
        int *seen = calloc((size_t)size, sizeof *seen);
        MPI_File_read_at(f, block, b, n * size, MPI_INT, &st);
        for (int i = 0; i < size; i++) {
            int r = b[i * n];
            SO(r >= 0 && r < size && seen[r]++ == 0);
            for (int x = 0; x < n; x++) EQ(b[i * n + x], k < 2 ? r : i);
        }
        free(seen);
    }
    MPI_Barrier(th->own);
    NOERR(MPI_File_seek_shared(f, 2 * n * size, MPI_SEEK_SET));
    NOERR(MPI_File_read_ordered(f, b, n, MPI_INT, &st));
    EQ(b[n - 1], rank);
    NOERR(MPI_File_read_ordered_begin(f, b, n, MPI_INT));
    NOERR(MPI_File_read_ordered_end(f, b, &st));
    EQ(b[n - 1], rank);
    NOERR(MPI_File_seek_shared(f, 2 * n * size, MPI_SEEK_SET));
    NOERR(MPI_File_read_shared(f, b, n, MPI_INT, &st));
    for (int i = 1; i < n; i++) EQ(b[i], b[0]);
    NOERR(MPI_File_iread_shared(f, b, n, MPI_INT, &q));
    MPI_Wait(&q, &st);
    for (int i = 1; i < n; i++) EQ(b[i], b[0]);
    file_drop(th, &f, "shared");
}

static int rep_extent(MPI_Datatype d, MPI_Aint *extent, void *extra)
{
    MPI_Aint lb;
    (void)extra;
    return MPI_Type_get_extent(d, &lb, extent);
}
static int rep_bytes(void *user, MPI_Datatype d, int n, void *file, MPI_Offset at, void *extra)
{
    (void)user, (void)d, (void)n, (void)file, (void)at, (void)extra;
    return MPI_SUCCESS;
}
static int rep_bytes_c(void *user, MPI_Datatype d, MPI_Count n, void *file, MPI_Offset at, void *extra)
{
    (void)user, (void)d, (void)n, (void)file, (void)at, (void)extra;
    return MPI_SUCCESS;
}
/* They stay until the end: each name once. */
static void scene_file_representation(struct th *th)
{
    char name[MPI_MAX_DATAREP_STRING];
    int n = th->turns++;
    snprintf(name, sizeof name, "thread %d plain %d", th->t, n);
    NOERR(MPI_Register_datarep(name, rep_bytes, rep_bytes, rep_extent, NULL));
    snprintf(name, sizeof name, "thread %d large %d", th->t, n);
    NOERR(MPI_Register_datarep_c(name, rep_bytes_c, rep_bytes_c, rep_extent, NULL));
}
