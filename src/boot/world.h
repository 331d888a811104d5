/* world.h -- other worlds (process groups of other jobs) on this machine: their segments; files in memory that processes share.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_WORLD_H
#define GW_BOOT_WORLD_H

#include "boot/boot.h"
#include "boot/segment.h"

/* ---- other worlds (boot_world.c) ----------------------------------------------------------------------------------
 * Each job has its own segment; processes that connect with another job map its segment, too. */
/* Identifies a segment on this machine: the process that holds it open, and its descriptor there.  A world with faked nodes has several
 * segments, with the same uid. */
struct boot_home {
    uint64_t uid;
    int32_t pid, fd;
};
struct boot_home boot_own_home(void);          /* fd -1: other worlds cannot map it */
struct boot_home boot_home_of(int world_rank); /* the same for the node of another rank of this world */
bool boot_is_on_one_host(void);                /* all ranks of this world are on one host, faked nodes or not */
uint64_t boot_host_id(void);                   /* the same for processes that can share memory: machine and namespaces */
/* Opens a segment: a descriptor, or an error.  The file is verified: memory of this user that cannot shrink.  *head_out is a copy whose
 * offsets and counts have been validated against the size; the segment's contents can change at any time. */
int boot_other_look(const struct boot_home *home, struct boot_head *head_out, uint64_t *bytes_out);
int boot_other_map(const struct boot_home *home, struct boot_head *head_out, char **base_out, uint64_t *bytes_out);
void boot_other_unmap(char *base, uint64_t bytes);
/* The same for an open descriptor: NULL, or the reason why it is invalid. */
const char *boot_head_read(int fd, struct boot_head *head_out, uint64_t *bytes_out);
/* The same for any shared memory: of this user, sealed or unlinked, of at least `least` bytes. */
const char *boot_file_fault(int fd, uint64_t least, uint64_t *bytes_out);
/* Opens descriptor `fd` of that process, by /proc or, where there is none, by pidfd_getfd(), if it is a file of this user; -1: *why_out has
 * the reason. */
int boot_file_open(int pid, int fd, const char **why_out);
/* Creates shared memory (boot_file.c): a memfd; if the kernel refuses, an unlinked file in /dev/shm, or in $TMPDIR if /dev/shm has less than
 * `room` bytes free.  Empty, close-on-exec.  -1: errno of memfd_create. */
int boot_file_make(const char *name, uint64_t room);
int boot_file_size(int fd, uint64_t bytes); /* grows it, and reserves memory if it is a file; 0, or -1 and errno */
int boot_file_seal(int fd, bool may_grow);  /* seals a memfd against shrinking; 0, or -1 and errno */
bool boot_file_is_unsealed(int fd);         /* a file that cannot be sealed: no memfd */
void boot_connection(const struct boot_home *home,
                     bool on); /* records in the slot that this rank is (not) connected; one thread at a time */

#endif
