/* processor.h -- which processor this machine has, and patterns that name processors, for tables whose rows hold for some of them.
 *
 * A processor is "intel/6/207+avx2+erms": vendor, family, model, and those of its features that GW_PROCESSOR_FEATURES lists.  A pattern is written
 * the same way, with less: "intel/6", "amd/any", "any+sve"; it has a '/' or a '+', by which a column of a table with one is known.  Numbers from 256 on, as parts of Arm's have, are written in hexadecimal.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_PROCESSOR_H
#define GW_BASE_PROCESSOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* Those by which ways to copy, and kernels of reductions, differ. */
#define GW_PROCESSOR_FEATURES(X)                                                                                                   \
    X(AVX2, "avx2") X(AVX512F, "avx512f") X(ERMS, "erms") X(FSRM, "fsrm") X(MOVDIR64B, "movdir64b") X(LSE, "lse") X(SVE, "sve")
enum gw_processor_feature {
#define FEATURE(name, word) GW_PROCESSOR_##name,
    GW_PROCESSOR_FEATURES(FEATURE)
#undef FEATURE
        GW_PROCESSOR_FEATURE_COUNT
};
enum { GW_PROCESSOR_ANY = -1 };
struct gw_processor {
    char vendor[16];       /* "intel", "amd", "arm", ..: small letters, no '/', '+'; "any" in patterns alone; "": not known */
    int32_t family, model; /* x86: with the extended ones; Arm: architecture and part.  GW_PROCESSOR_ANY in patterns alone */
    uint32_t features;     /* bits by enum gw_processor_feature; of a pattern: those that it asks for */
};
enum { GW_PROCESSOR_TEXT = 128 }; /* room for any of them */

/* Where a processor is described. */
struct gw_processor_source {
    bool (*cpuid)(uint32_t leaf, uint32_t sub, uint32_t out[4]); /* as gw_cpuid() */
    const char *midr,
        *cpuinfo;   /* files: the register MIDR_EL1 of the first core, as the kernel of Arm machines shows it; /proc/cpuinfo */
    uint64_t hwcap; /* of Arm: AT_HWCAP */
};
/* False, and a vendor of "": it is not described there. */
bool gw_processor_read(const struct gw_processor_source *from, struct gw_processor *out) GW_COLD;
/* The machine's; of one with cores of several kinds its first core's, so that all processes come to the same.  False, and a vendor of "": not
 * known. */
bool gw_processor_here(struct gw_processor *out) GW_COLD;
/* What GODWIT_PROCESSOR says: "auto" or NULL: the machine's, "none": vendor "", or a processor.  False: it is none of these. */
bool gw_processor_of(const char *setting, struct gw_processor *out) GW_COLD;

bool gw_processor_parse(const char *text, struct gw_processor *out) GW_COLD; /* blanks around it do not count; false: it is none */
/* A row of a table may begin with a column that names processors: "intel/6/207 | bcast | ..".  *line is set behind it. */
enum gw_processor_column { GW_PROCESSOR_NO_COLUMN, GW_PROCESSOR_COLUMN, GW_PROCESSOR_BAD_COLUMN };
enum gw_processor_column gw_processor_column(char **line, struct gw_processor *out) GW_COLD;
char *gw_processor_text(const struct gw_processor *p, bool has_features, char *to, size_t cap) GW_COLD; /* returns `to`; "none" */
/* Does the pattern name this processor?  None names one of which nothing is known. */
bool gw_processor_fits(const struct gw_processor *pattern, const struct gw_processor *p) GW_COLD;
/* How its maker calls it ("Intel(R) Xeon(R) Processor"), from the kernel; "": it does not say. */
char *gw_processor_model_name(char *to, size_t cap) GW_COLD;

/* What the processor says of itself on the core where it was asked first: EAX, EBX, ECX, EDX.  False: it does not know the leaf. */
bool gw_cpuid(uint32_t leaf, uint32_t sub, uint32_t out[4]) GW_COLD;

#endif
