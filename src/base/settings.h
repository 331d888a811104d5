/* settings.h -- what the user has set: variables of the environment, a site's file.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_SETTINGS_H
#define GW_BASE_SETTINGS_H

#include "base/base.h"
#include "base/settings_gen.h" /* struct gw_settings and gw_set (generated from every cvars.def) */

/* ---- settings ----------------------------------------------------------------------------------
 * `gw_set` (settings_gen.h) is filled once from the environment: GODWIT_<NAME>, then the aliases.
 * A site's file (/etc/godwit.conf and /etc/cray-mpich.conf, or the one that GODWIT_SITE names) sets variables first: lines NAME=VALUE,
 * where the environment does not have it, and NAME:force=VALUE.  GODWIT_SITE= (empty) means none.  In a program with raised rights
 * (gw_is_raised()) the site's files alone count.  getenv() stands nowhere else but here, in boot (the launchers'
 * own variables, and one setting that is needed before main()) and where libfabric is opened (one of its own). */
bool gw_set_bool(const char *text, bool *out); /* false: it is neither a word of truth nor one of falsehood */
/* Decimal or 0x; has_unit: K, M, G or T may follow (powers of 1024, with B or iB behind), as in 64K; "auto" is -1.  False: it is none, and
 * *out is not written. */
bool gw_number_read(const char *text, bool has_unit, int64_t *out);
bool gw_span_read(const char *text, int *low_out, int *high_out); /* "2..8", or "9..": and more; both from 1 on */
bool gw_set_lists(const char *list, const char *word);            /* a setting of type list has this word */
/* idempotent; warns about unknown GODWIT_* names with the nearest spelling, and about MPICH_* without effect */
void gw_settings_load(void);
const char *gw_foreign_why(const char *name); /* why a variable of HPE's MPI is of no effect here; NULL: it is not known to be so */
/* The next variable of the environment, behind place *at (0 at first), that a library below this one reads, and no setting, or that
 * begins as libfabric's do: its value, and its name (cap bytes).  NULL: there are no more. */
const char *gw_foreign_next_set(int *at, char *name_out, size_t cap);
struct gw_setting_info { /* one row, for godwit-info, man pages and MPI_T */
    const char *name, *room, *env, *type, *default_text, *range, *aliases, *help;
    const char *source; /* "FILE, line N", where a file set the variable that counts; NULL: it stood in the environment */
};
/* The k-th name, from 0, of the variable of that setting, in the order in which they count; NULL: there are no more. */
const char *gw_setting_name(const char *env, int k);
/* The variable by which the user, or a file, has set what is in force of that setting: a complaint names that.  The setting's own where nobody
 * has. */
const char *gw_setting_said(const char *env);
/* The row of the setting that reads the variable, in capitals, also by MPICH's other name of it (MPIR_CVAR_X for MPICH_X); -1: none does. */
int gw_setting_read_by(const char *variable);
void gw_settings_free(void); /* drops the text copies; the next load reads the environment again */
int gw_settings_count(void);
int gw_settings_next_set(int from); /* the first row from `from` on that somebody has set; gw_settings_count(): none */
void gw_settings_get(int i, struct gw_setting_info *info_out, char *value_out, size_t cap, const char **origin_out);
/* Parses as from the environment and takes it; false: it is not of the setting's type or range, and nothing changes. */
bool gw_settings_set(int i, const char *text);
/* The file of godwit-tune that a job would take whose ranks all run here: before gw_settings_load(), sets GODWIT_TUNE to gw_file_tuned() where
 * that file is there and the variable is not set. */
void gw_tuned_take(void);
/* What acts by GODWIT_TUNE: "FILE, measured 2026-11-27, on HOST (MODEL, PROCESSOR): 3 rows for collectives, 1 threshold of messages;
 * 2 for another processor (amd/26/2), which do not count here; 1 line that is wrong (line 7) is left out".  A threshold that a variable of the
 * environment sets is none of the file's.  False: nothing. */
bool gw_tuned_text(char *text_out, size_t cap);
/* What a rank would warn of, while it has not: how many warnings, and the first of them (cap bytes). */
int gw_settings_complaints(char *first_out, size_t cap);
const char *gw_settings_complaints_text(void); /* all of them, a line each, until then */
/* Of a setting that protects: what is wrong with its value, for the sentence with which the start is refused; NULL: nothing. */
const char *gw_settings_refused(void);
const void *gw_settings_field(int i); /* bool, int64_t, int (a word's number) or const char *, by its type */
const char *gw_nearest(const char *word, const char *const *words, int n); /* NULL if nothing is near */
/* Those that go on where the word ends: how many, and the places of the first `most` of them. */
int gw_longer(const char *word, const char *const *words, int n, int *at_out, int most);

#endif
