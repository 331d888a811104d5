/* base_private.h -- what the files of base share among themselves.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_BASE_PRIVATE_H
#define GW_BASE_BASE_PRIVATE_H

#include "base/base.h"

/* Complaints about settings wait until the rank is known, so that rank 0 alone prints them.  Called by
 * gw_log_identity() and before the process dies. */
void gw_settings_report(void);
bool gw_log_rank_known(int *rank_out);
/* Lines of a site's file become environment variables (site.c); a file that is not there has none, and is complained of where the user
 * named it.  is_raised: its lines come before the environment, and their names are kept for gw_site_sets(). */
void gw_site_read(const char *path, bool is_named, bool is_raised, void (*complain)(const char *fmt, ...) GW_PRINTF(1, 2));
bool gw_site_sets(const char *name, size_t len);
void gw_site_free(void); /* forgets them */
/* "FILE, line N": where the variable stands that counts now, if a site's file has set it, here or in the mpiexec that started this process; else
 * NULL. */
const char *gw_site_source(const char *name);
/* Whose word the variable's value is. */
enum gw_site_word { GW_SITE_FORCED, GW_SITE_NOTHING /* the user's */, GW_SITE_DEFAULT };
enum gw_site_word gw_site_word(const char *name);
/* Is the text one for this row?  If not, why_out says it of that variable. */
bool gw_setting_fits(int row, const char *variable, const char *text, char *why_out, size_t cap);
/* A line of GODWIT_TUNE's file: which of gw_setting_names it sets, and to what.  The line is cut behind the name. */
struct gw_processor;
enum { GW_TUNED_NOTHING = -1 /* it is no setting's */, GW_TUNED_OTHER = -2 /* for another processor */, GW_TUNED_WRONG = -3 };
int gw_tuned_setting(char *line, const struct gw_processor *here, char **value_out, char *why_out, size_t cap);
/* Says which variables of HPE's MPI in the environment are of no effect, or are spelled nearly like one that has (foreign.c). */
void gw_foreign_check(void (*complain)(const char *fmt, ...) GW_PRINTF(1, 2));
bool gw_foreign_is_mpis(const char *name);     /* a variable of an MPI library, or of a network's that is opened when MPI starts */
bool gw_setting_is_reserved(const char *name); /* it has our prefix, and who starts a job reads it, before the ranks do */
/* Bytes of the UTF-8 character with which the text begins, of `bytes` that it has; 0: it is none. */
size_t gw_plain_decode(const char *text, size_t bytes, uint32_t *c_out);
size_t gw_plain_shown(const char *text,
                      unsigned how); /* bytes of its first character, which is shown as it is (plain.h); 0: it is not */
/* The position of word[0..len) in a comma-separated list, -1 if it is not there; capitals do not count. */
int gw_word_index(const char *list, const char *word, size_t len);

#endif
