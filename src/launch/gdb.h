/* gdb.h -- mpiexec --gdb: ranks that start under gdb, on the terminal or in a window each.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_LAUNCH_GDB_H
#define GW_LAUNCH_GDB_H

#include "launch/launch.h"

enum { GDB_NO_LIST = -1, GDB_NO_RANK = -2 };
/* Which ranks a list such as "0,2-3" names; "" and "all" name all.  Returns how many, or why it is none. */
int launch_gdb_ranks(const char *list, int n_ranks, bool *has_out);

int launch_gdb_start(struct job *j); /* before the ranks start: 0, or an exit status after an explanation */
bool launch_gdb_has(int rank);
bool launch_gdb_has_window(int rank);             /* such a rank begins a session of its own */
void launch_gdb_env(int rank, struct words *own); /* adds the variables that describe the window to gdb */
int launch_gdb_terminal(int rank);   /* in the rank's process, leader of its group or session: takes its terminal; 0 or errno */
char **launch_gdb_argv(char **argv); /* the program under gdb; caller frees the list */
void launch_gdb_end(void);           /* after the last rank: closes the windows, takes the terminal back */

int launch_gdb_window_main(int argc, char **argv); /* the process of a window: argv is --gdb-window SOCKET RANK */
#endif
