/* threads_counts.h -- scenes of threads_every.c in two forms: included twice, with
 *   FORM(name)  the call or scene in this form      COUNT  int or MPI_Count
 *   DISPL       int or MPI_Aint                     WIDE   MPI_Aint or MPI_Count
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */

/* ---- datatypes whose constructors take arrays; envelope, contents, packing ------------------------------------------------- */
static void FORM(check_contents)(struct th *th, MPI_Datatype type, int want)
{
    COUNT ni = 0, na = 0, nl = 0, nd = 0;
    int combiner = 0, ints[40] = {0};
    MPI_Aint addresses[20];
    MPI_Count larges[40];
    MPI_Datatype types[4];
#if LARGE
    MPI_Type_get_envelope_c(type, &ni, &na, &nl, &nd, &combiner);
    MPI_Type_get_contents_c(type, ni, na, nl, nd, ints, addresses, larges, types);
#else
    MPI_Type_get_envelope(type, &ni, &na, &nd, &combiner);
    MPI_Type_get_contents(type, ni, na, nd, ints, addresses, types);
    (void)larges;
#endif
    EQ(combiner, want);
    SO(nd > 0 && ni + nl > 0);
    for (int i = 0; i < nd; i++) {
        int n = 0, a = 0, d = 0;
        MPI_Type_get_envelope(types[i], &n, &a, &d, &combiner);
        if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&types[i]);
    }
    (void)nl;
}
static void FORM(check_type)(struct th *th, MPI_Datatype type, int combiner, const int *at, int n)
{
    COUNT bytes = 0, position = 0, room = 0;
    WIDE lb = -1, extent = 0;
    MPI_Type_commit(&type);
    FORM(MPI_Type_size)(type, &bytes);
    EQ(bytes, n * 4);
    FORM(MPI_Type_get_true_extent)(type, &lb, &extent);
    EQ(lb, at[0] * 4);
    EQ(extent, (at[n - 1] - at[0] + 1) * 4);
    FORM(MPI_Type_get_extent)(type, &lb, &extent);
    SO(extent >= (at[n - 1] - at[0] + 1) * 4);
    FORM(check_contents)(th, type, combiner);
    type_travels(th, type, at, n);

    int *a = (int *)th->a, *b = (int *)th->b;
    WIDE ext_room = 0, ext_position = 0;
    for (int i = 0; i < 100; i++) a[i] = 3 * i + rank, b[i] = -1;
    unsigned char *packed = th->b + SPACE / 2;
    FORM(MPI_Pack_size)(1, type, th->own, &room);
    FORM(MPI_Pack)(a, 1, type, packed, room, &position, th->own);
    SO(position <= room);
    position = 0;
    FORM(MPI_Unpack)(packed, room, &position, b, 1, type, th->own);
    for (int i = 0; i < n; i++) EQ(b[at[i]], 3 * at[i] + rank);
    for (int i = 0; i < 100; i++) b[i] = -1;
    FORM(MPI_Pack_external_size)("external32", 1, type, &ext_room);
    EQ(ext_room, n * 4);
    FORM(MPI_Pack_external)("external32", a, 1, type, packed, ext_room, &ext_position);
    EQ(packed[3] | packed[2] << 8, (3 * at[0] + rank) & 0xffff); /* the most significant byte first */
    ext_position = 0;
    FORM(MPI_Unpack_external)("external32", packed, ext_room, &ext_position, b, 1, type);
    for (int i = 0; i < n; i++) EQ(b[at[i]], 3 * at[i] + rank);
    MPI_Type_free(&type);
}
static void FORM(scene_type_arrays)(struct th *th)
{
    MPI_Datatype d;
    COUNT lens[3] = {1, 2, 1};
    COUNT displs[3] = {0, 3, 7};
    WIDE bytes[3] = {0, 12, 28};
    static const int at_lens[] = {0, 3, 4, 7}, at_blocks[] = {0, 1, 3, 4, 7, 8}, at_sub[] = {5, 6, 9, 10}, at_dist[] = {0, 1, 2, 3};
    MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT};
    FORM(MPI_Type_indexed)(3, lens, displs, MPI_INT, &d);
    FORM(check_type)(th, d, MPI_COMBINER_INDEXED, at_lens, 4);
    FORM(MPI_Type_create_hindexed)(3, lens, bytes, MPI_INT, &d);
    FORM(check_type)(th, d, MPI_COMBINER_HINDEXED, at_lens, 4);
    FORM(MPI_Type_create_indexed_block)(3, 2, displs, MPI_INT, &d);
    FORM(check_type)(th, d, MPI_COMBINER_INDEXED_BLOCK, at_blocks, 6);
    FORM(MPI_Type_create_hindexed_block)(3, 2, bytes, MPI_INT, &d);
    FORM(check_type)(th, d, MPI_COMBINER_HINDEXED_BLOCK, at_blocks, 6);
    FORM(MPI_Type_create_struct)(3, lens, bytes, types, &d);
    FORM(check_type)(th, d, MPI_COMBINER_STRUCT, at_lens, 4);
    COUNT sizes[2] = {4, 4}, part[2] = {2, 2}, from[2] = {1, 1};
    FORM(MPI_Type_create_subarray)(2, sizes, part, from, MPI_ORDER_C, MPI_INT, &d);
    FORM(check_type)(th, d, MPI_COMBINER_SUBARRAY, at_sub, 4);
    COUNT gsizes[1] = {8};
    int how[1] = {MPI_DISTRIBUTE_BLOCK}, args[1] = {MPI_DISTRIBUTE_DFLT_DARG}, psizes[1] = {2};
    FORM(MPI_Type_create_darray)(2, 0, 1, gsizes, how, args, psizes, MPI_ORDER_FORTRAN, MPI_INT, &d);
    FORM(check_type)(th, d, MPI_COMBINER_DARRAY, at_dist, 4);
}

/* ---- collectives with a count per rank: rank r gives r + 1 ints (r + 1 of them to each) -------------------------------------- */
struct FORM(vectors) {
    COUNT counts[MAX_RANKS], mine[MAX_RANKS], ones[MAX_RANKS];
    DISPL displs[MAX_RANKS], mine_displs[MAX_RANKS], bytes[MAX_RANKS], mine_bytes[MAX_RANKS];
    MPI_Datatype types[MAX_RANKS];
    int total;
};
static void FORM(vectors_fill)(struct FORM(vectors) * v, int per_rank)
{
    v->total = 0;
    for (int r = 0; r < size; r++) {
        v->counts[r] = (r + 1) * per_rank, v->mine[r] = (rank + 1) * per_rank;
        v->displs[r] = v->total, v->mine_displs[r] = r * (int)v->mine[r];
        v->bytes[r] = 4 * v->displs[r], v->mine_bytes[r] = 4 * v->mine_displs[r];
        v->types[r] = MPI_INT;
        v->total += (r + 1) * per_rank;
    }
}
static void FORM(check_blocks)(struct th *th, const struct FORM(vectors) * v, int is_mine)
{
    const int *b = (int *)th->b;
    for (int r = 0; is_mine && r < size; r++)
        for (int i = 0; i < v->counts[r]; i++) EQ(b[v->displs[r] + i], r * 1000 + i);
}
static void FORM(scene_vectors)(struct th *th)
{
    struct FORM(vectors) v;
    int *a = (int *)th->a, *b = (int *)th->b, root = (int)below(th, (unsigned)size), per_rank = per_rank_ints(th);
    FORM(vectors_fill)(&v, per_rank);
    int n = (int)v.mine[rank];
    for (int i = 0; i < n; i++) a[i] = rank * 1000 + i;
    FORMS(FORM(check_blocks)(th, &v, rank == root), FORM(MPI_Gatherv), FORM(MPI_Igatherv), FORM(MPI_Gatherv_init), a, n, MPI_INT, b,
          v.counts, v.displs, MPI_INT, root, th->own);
    FORMS(FORM(check_blocks)(th, &v, 1), FORM(MPI_Allgatherv), FORM(MPI_Iallgatherv), FORM(MPI_Allgatherv_init), a, n, MPI_INT, b,
          v.counts, v.displs, MPI_INT, th->own);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++) a[v.mine_displs[r] + i] = rank * 1000 + i;
    FORMS(FORM(check_blocks)(th, &v, 1), FORM(MPI_Alltoallv), FORM(MPI_Ialltoallv), FORM(MPI_Alltoallv_init), a, v.mine,
          v.mine_displs, MPI_INT, b, v.counts, v.displs, MPI_INT, th->own);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < v.counts[r]; i++) a[v.displs[r] + i] = r * 1000 + i;
    FORMS(for (int i = 0; i < n; i++) EQ(b[i], rank * 1000 + i), FORM(MPI_Scatterv), FORM(MPI_Iscatterv), FORM(MPI_Scatterv_init),
          a, v.counts, v.displs, MPI_INT, b, n, MPI_INT, root, th->own);
    for (int i = 0; i < v.total; i++) a[i] = i;
    FORMS(for (int i = 0; i < n; i++) EQ(b[i], size * ((int)v.displs[rank] + i)), FORM(MPI_Reduce_scatter),
          FORM(MPI_Ireduce_scatter), FORM(MPI_Reduce_scatter_init), a, b, v.counts, MPI_INT, MPI_SUM, th->own);
}
/* Displacements in bytes: plain Alltoallw counts them in ints. */
static void FORM(scene_alltoallw)(struct th *th)
{
    struct FORM(vectors) v;
    int *a = (int *)th->a, *b = (int *)th->b;
    FORM(vectors_fill)(&v, per_rank_ints(th));
    for (int r = 0; r < size; r++)
        for (int i = 0; i < v.mine[r]; i++) a[v.mine_displs[r] + i] = rank * 1000 + i;
    FORMS(FORM(check_blocks)(th, &v, 1), FORM(MPI_Alltoallw), FORM(MPI_Ialltoallw), FORM(MPI_Alltoallw_init), a, v.mine,
          v.mine_bytes, v.types, b, v.counts, v.bytes, v.types, th->own);
}
/* On a ring (left, right): two neighbours, which may be the same rank or this one. */
static void FORM(scene_neighbor_vectors)(struct th *th)
{
    MPI_Comm ring;
    int dims[1] = {size}, periods[1] = {1}, *a = (int *)th->a, *b = (int *)th->b;
    COUNT counts[2] = {2, 3}, back[2] = {3, 2};
    DISPL displs[2] = {0, 10}, back_displs[2] = {0, 10};
    MPI_Aint bytes[2] = {0, 40};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Cart_create(th->own, 1, dims, periods, 0, &ring);
    for (int i = 0; i < 20; i++) a[i] = rank * 100 + i;
    COUNT same[2] = {4, 4};
    FORMS(
        {
            EQ(b[3], th->left * 100 + 3);
            EQ(b[13], th->right * 100 + 3);
        },
        FORM(MPI_Neighbor_allgatherv), FORM(MPI_Ineighbor_allgatherv), FORM(MPI_Neighbor_allgatherv_init), a, 4, MPI_INT, b, same,
        displs, MPI_INT, ring);
    /* What I send left (2, from 0) arrives from the right of him: his second block. */
    FORMS(
        {
            EQ(b[2], th->left * 100 + 12);
            EQ(b[11], th->right * 100 + 1);
        },
        FORM(MPI_Neighbor_alltoallv), FORM(MPI_Ineighbor_alltoallv), FORM(MPI_Neighbor_alltoallv_init), a, counts, displs, MPI_INT,
        b, back, back_displs, MPI_INT, ring);
    FORMS(
        {
            EQ(b[2], th->left * 100 + 12);
            EQ(b[11], th->right * 100 + 1);
        },
        FORM(MPI_Neighbor_alltoallw), FORM(MPI_Ineighbor_alltoallw), FORM(MPI_Neighbor_alltoallw_init), a, counts, bytes, types, b,
        back, bytes, types, ring);
    MPI_Comm_free(&ring);
}
