/* std.h -- what fort.h leaves to the ABI, for the MPI standard ABI: libmpifort_abi.so, whose modules are ours.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef FORT_STD_H
#define FORT_STD_H

/* ---- sentinels: common blocks of mpif.h and the modules.  The executable's own definition is what all see. ---- */
struct fort_sentinels {
    int address[3]; /* MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC: C's values are 0, 1, 2 */
    int unweighted[1], weights_empty[1];
    int errcodes_ignore[1];
    MPI_Status status_ignore, statuses_ignore[1];
};
struct fort_sentinel_texts {
    char argv_null, argvs_null;
};
extern struct fort_sentinels mpi_abi_sentinels_;
extern struct fort_sentinel_texts mpi_abi_sentinel_texts_;

static inline bool fort_is_sentinel(const void *p)
{
    return (uintptr_t)p - (uintptr_t)&mpi_abi_sentinels_ < sizeof mpi_abi_sentinels_;
}

static inline void *fort_buf(void *p)
{
    uintptr_t at = (uintptr_t)p - (uintptr_t)&mpi_abi_sentinels_;
    return likely(at >= sizeof mpi_abi_sentinels_.address) ? p : (void *)(at / sizeof(int));
}

static inline int *fort_weights(int *w)
{
    if (w == mpi_abi_sentinels_.unweighted) return MPI_UNWEIGHTED;
    return w == mpi_abi_sentinels_.weights_empty ? MPI_WEIGHTS_EMPTY : w;
}

static inline bool fort_is_no_texts(const char *argv)
{
    return argv == &mpi_abi_sentinel_texts_.argv_null || argv == &mpi_abi_sentinel_texts_.argvs_null;
}

/* ---- handles: INTEGERs by MPI_*_toint; predefined ones have the same value in both languages ---- */
/* Below fort_plain, a power of 2, a handle has the same value in C and in Fortran.  The standard ABI says so of predefined ones; where
 * the library's own handles turn out to be small numbers, too, fort_started() raises it, once.  No atomic: gcc takes an instruction more to
 * compare with one; a thread that sends while another one opens the first session may read either value, and both are right. */
FORT_HIDDEN extern unsigned fort_plain;
static inline bool fort_are_plain(int all) { return (unsigned)all < fort_plain; }
#define FORT_PLAIN(Type, f) ((Type)(uintptr_t)(unsigned)(f))
#define FORT_HANDLE(word, Type, Name)                                                                                              \
    static inline MPI_##Type fort_##word##_quick(int f) { return FORT_PLAIN(MPI_##Type, f); }                                      \
    static inline MPI_##Type fort_##word(int f)                                                                                    \
    {                                                                                                                              \
        return likely(fort_are_plain(f)) ? FORT_PLAIN(MPI_##Type, f) : PMPI_##Name##_fromint(f);                                   \
    }                                                                                                                              \
    static inline int fort_##word##_int(MPI_##Type h)                                                                              \
    {                                                                                                                              \
        return likely((uintptr_t)h < fort_plain) ? (int)(uintptr_t)h : PMPI_##Name##_toint(h);                                     \
    }
FORT_HANDLES(FORT_HANDLE)
#undef FORT_HANDLE

static inline int fort_keyval_in(int keyval) { return keyval; }

/* ---- descriptors of TS 29113: the part that gfortran and flang lay out alike ---- */
struct fort_dim {
    ptrdiff_t lower, extent, stride_bytes;
};
struct fort_desc {
    void *base;
    size_t elem_len;
    int version;
    signed char rank;
    char differs[3];
    struct fort_dim dim[15];
};
static inline ptrdiff_t fort_extent(const struct fort_desc *d, int i) { return d->dim[i].extent; }
static inline ptrdiff_t fort_step(const struct fort_desc *d, int i) { return d->dim[i].stride_bytes; }

/* ---- tools that wrap Fortran's routines ----
 * pmpi_x_ calls PMPI_X, unless it hands on what a tool's mpi_x_ has seen and a library of mpiexec's (--record, --profile; tools/next) wants
 * to see, too: then that library's MPI_X.  By address, which the first call looks up: a library below may lack calls of MPI 5.0. */
#ifdef FORT_PMPI
struct fort_below {
    fort_fn *at;
    void (*mark)(const char *pmpi_name); /* to be told before each call; NULL: PMPI_X is called */
};
FORT_HIDDEN fort_fn *fort_below(struct fort_below *kept, const char *pmpi_name, const char *routine) FORT_COLD;
#undef C
#define C(name)                                                                                                                    \
    (*__extension__({                                                                                                              \
        static struct fort_below kept_;                                                                                            \
        fort_fn *at_ = __atomic_load_n(&kept_.at, __ATOMIC_ACQUIRE);                                                               \
        if (unlikely(!at_)) at_ = fort_below(&kept_, "PMPI_" #name, __func__);                                                     \
        if (unlikely(kept_.mark != NULL)) kept_.mark("PMPI_" #name);                                                               \
        (__typeof__(&PMPI_##name))at_;                                                                                             \
    }))
#endif

/* ---- names: one for each routine ---- */
#define FORT_FORMS(low, UP)
#define FORT_MODERN(name)
#define FORT_PREDEFINED(low, UP)
void mpi_conversion_fn_null_(void);
void mpi_conversion_fn_null_c_(void);
static inline bool fort_is_null_conversion(fort_fn *fn) { return fn == mpi_conversion_fn_null_ || fn == mpi_conversion_fn_null_c_; }

#endif
