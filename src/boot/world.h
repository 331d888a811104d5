/* world.h -- other worlds: where they are, their segments, memory to share.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BOOT_WORLD_H
#define GW_BOOT_WORLD_H

#include "boot/boot.h"
#include "boot/segment.h"

/* ---- other worlds (boot_world.c) ----------------------------------------------------------------------------------
 * Each job has its own segment; whoever has met another job maps that one too. */
/* How a segment of a world is found on this machine; with faked nodes it has several, with the same uid. */
struct boot_home {
    uint64_t uid;
    int32_t pid, fd;
};
struct boot_home boot_own_home(void);          /* fd -1: others cannot come to us */
struct boot_home boot_home_of(int world_rank); /* the same of the node of another rank of our world */
bool boot_is_on_one_host(void);                /* all ranks of this world, whatever faked nodes they are on */
uint64_t boot_host_id(void);                   /* equal for processes that can meet by memory: machine and namespaces */
/* A descriptor of the segment there, or an error.  It is memory of our user that cannot shrink, and the head is a copy of which each
 * offset and number has been compared with its size; what lies in the segment itself may change while it is looked at. */
int boot_other_look(const struct boot_home *home, struct boot_head *head_out, uint64_t *bytes_out);
int boot_other_map(const struct boot_home *home, struct boot_head *head_out, char **base_out, uint64_t *bytes_out);
void boot_other_unmap(char *base, uint64_t bytes);
/* The same of a descriptor; what is wrong with it, NULL: nothing. */
const char *boot_head_read(int fd, struct boot_head *head_out, uint64_t *bytes_out);
const char *boot_file_fault(int fd, uint64_t least,
                            uint64_t *bytes_out); /* any memory: ours, sealed or unlinked, of so many bytes at least */
int boot_file_open(int pid, int fd,
                   const char **why_out); /* descriptor `fd` of that process, if it is a file of our user; -1: *why_out */
/* Memory to share (boot_file.c): a memfd, or where the kernel refuses that an unlinked file in /dev/shm, or $TMPDIR if that has the room
 * which /dev/shm lacks.  Empty, closed on exec; -1: errno, that of memfd_create. */
int boot_file_make(const char *name, uint64_t room);
int boot_file_size(int fd, uint64_t bytes);           /* grows it, and reserves the memory of a file; 0, or -1 and errno */
int boot_file_seal(int fd, bool may_grow);            /* against shrinking, what can be sealed; 0, or -1 and errno */
bool boot_file_is_unsealed(int fd);                   /* it is such a file */
void boot_tie(const struct boot_home *home, bool on); /* tells the launcher; one thread at a time */

#endif
