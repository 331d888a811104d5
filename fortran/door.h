/* door.h -- what the Fortran halves of doors share: the special variables of an ABI, and the many names of a routine.
 *
 * A door's Fortran half is a client of its C half, by the generated mpi.h of that ABI, as a program would be.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef FORT_DOOR_H
#define FORT_DOOR_H

/* ---- special variables: common blocks and variables of modules; the executable's definition is what all see ---- */
enum fort_what {
    FORT_NOTHING,
    FORT_BOTTOM,
    FORT_IN_PLACE,
    FORT_AUTOMATIC,
    FORT_UNWEIGHTED,
    FORT_WEIGHTS_EMPTY,
    FORT_IGNORE,
    FORT_NO_TEXTS
};
struct fort_special {
    const void *at;
    enum fort_what what;
};
enum { FORT_SPECIALS = 32 };                                  /* an ABI has no more than these */
FORT_HIDDEN extern const struct fort_special fort_specials[]; /* up to one of FORT_NOTHING */
/* They lie in the program and in libraries, which are far apart, the heap between them: two ranges hold all of them, and little else. */
struct fort_range {
    uintptr_t first, span;
};
FORT_HIDDEN extern struct fort_range fort_ranges[2];
static inline bool fort_in_range(const void *p, int i) { return (uintptr_t)p - fort_ranges[i].first < fort_ranges[i].span; }
FORT_HIDDEN enum fort_what fort_special_find(const void *p);

static inline enum fort_what fort_special(const void *p)
{
    return likely(!fort_in_range(p, 0) && !fort_in_range(p, 1)) ? FORT_NOTHING : fort_special_find(p);
}
static inline bool fort_is_sentinel(const void *p) { return fort_special(p) != FORT_NOTHING; }
static inline bool fort_is_no_texts(const char *argv) { return fort_special(argv) == FORT_NO_TEXTS; }

static inline void *fort_buf(void *p)
{
    switch (fort_special(p)) {
    case FORT_BOTTOM: return MPI_BOTTOM;
    case FORT_IN_PLACE: return MPI_IN_PLACE;
    case FORT_AUTOMATIC: return MPI_BUFFER_AUTOMATIC;
    default: return p;
    }
}

static inline int *fort_weights(int *w)
{
    switch (fort_special(w)) {
    case FORT_UNWEIGHTED: return MPI_UNWEIGHTED;
    case FORT_WEIGHTS_EMPTY: return MPI_WEIGHTS_EMPTY;
    default: return w;
    }
}

/* ---- descriptors: gfortran's own, as the modules do not say BIND(C) ---- */
struct fort_dim {
    ptrdiff_t stride, lower, upper; /* in elements of `span` bytes */
};
struct fort_desc {
    void *base;
    size_t offset, elem_len;
    int version;
    signed char rank, type;
    short attribute;
    ptrdiff_t span;
    struct fort_dim dim[15];
};
static inline ptrdiff_t fort_extent(const struct fort_desc *d, int i) { return d->dim[i].upper - d->dim[i].lower + 1; }
static inline ptrdiff_t fort_step(const struct fort_desc *d, int i)
{
    return d->dim[i].stride * (d->span ? d->span : (ptrdiff_t)d->elem_len);
}

/* ---- names: compilers had four ways to name x ---- */
#define FORT_FORM(low, name) extern __typeof__(F(low##_)) F(name) __attribute__((alias(FORT_TEXT(F(low##_)))));
#define FORT_FORMS(low, UP)                                                                                                        \
    FORT_FORM(low, low)                                                                                                            \
    FORT_FORM(low, low##__)                                                                                                        \
    extern __typeof__(F(low##_)) upper_##low __asm__(FORT_UPPER #UP) __attribute__((alias(FORT_TEXT(F(low##_)))));
#define FORT_PREDEFINED(low, UP)                                                                                                   \
    FORT_FORMS(low, UP)                                                                                                            \
    extern __typeof__(F(low##_)) __mpi_f08_callbacks_MOD_mpi_##low __attribute__((alias(FORT_TEXT(F(low##_)))));
/* Each name may have an address of its own where a program is not position-independent. */
#define FORT_NULL_NAMES(low, UP)                                                                                                   \
    void mpi_##low(void);                                                                                                          \
    void mpi_##low##_(void);                                                                                                       \
    void mpi_##low##__(void);                                                                                                      \
    void __mpi_f08_callbacks_MOD_mpi_##low(void);                                                                                  \
    extern fort_fn null_##low __asm__("MPI_" #UP);                                                                                 \
    static inline bool fort_is_##low(fort_fn *fn)                                                                                  \
    {                                                                                                                              \
        return fn == mpi_##low || fn == mpi_##low##_ || fn == mpi_##low##__ || fn == null_##low ||                                 \
            fn == __mpi_f08_callbacks_MOD_mpi_##low;                                                                               \
    }
FORT_NULL_NAMES(conversion_fn_null, CONVERSION_FN_NULL)
FORT_NULL_NAMES(conversion_fn_null_c, CONVERSION_FN_NULL_C)
#undef FORT_NULL_NAMES
static inline bool fort_is_null_conversion(fort_fn *fn)
{
    return fort_is_conversion_fn_null(fn) || fort_is_conversion_fn_null_c(fn);
}

#endif
