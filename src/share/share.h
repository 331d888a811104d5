/* share.h -- memory in a file that processes of one node map: how it is made, shown to the others, checked and mapped.
 *
 *     maker:   share_new() -> share_make() -> share_show_begin() -> (tells struct share_offer) -> share_show_step()..
 *              -> share_show_end()
 *     others:  (are told it) -> share_fetch_begin() -> share_fetch_step()... -> share_map()
 *
 * The file is a memfd that can neither shrink nor grow, so that nobody dies of SIGBUS.  Its first bytes are a nonce, by which the
 * others recognise it; the memory is behind it.  The others open it under /proc/PID/fd.  This is not allowed where the maker is
 * not dumpable (PR_SET_DUMPABLE), and there may be no /proc: then the maker passes the descriptor at a port.  How the offer
 * reaches the others, and what they do between two steps, is the caller's: this room knows no communicators.  The kernel frees
 * the file with its last mapping.
 *
 * LOCK     None: one thread at a time for a file.
 * RETURNS  GW_OK, GW_AGAIN or a negative code, after gw_fail(); outputs are written on success only.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SHARE_SHARE_H
#define GW_SHARE_SHARE_H

#include "base/base.h"
#include "boot/boot.h"
#include "boot/port.h"

/* How messages name such memory. */
struct share_words {
    const char *file; /* of the file: "godwit-window" */
    const char *one;  /* "the window" */
    const char *all;  /* the parts of all processes: "the windows of all ranks" */
    const char *cure; /* what helps where there is too little memory: "; set ..."; "": nothing is known */
};
struct share_file {
    uint64_t nonce;
    uint64_t bytes, head;   /* its length; where the memory begins in it */
    uint64_t page;          /* large pages of this size, as far as the system gives them; 0: the system's ordinary ones */
    uint64_t inode, device; /* a file of pages of the system's pool is all memory, and recognised by its number; 0: it is none */
    int32_t pid, fd;
};
struct share_offer { /* travels as bytes from the maker to the others */
    struct share_file file;
    struct boot_port port; /* passes the descriptor; no name: open it under /proc */
};

/* ---- the maker ---- */
struct share_file share_new(void); /* one without memory, fd -1 */
/* A memfd for `bytes` bytes, which begin in it at a multiple of f->page (0: of the system's pages) and are not set aside.  The
 * caller owns f->fd. */
int share_make(const struct share_words *w, uint64_t bytes, struct share_file *f);
/* Is there so much memory as all processes of the node will touch?  A file of `bytes` bytes may be made. */
int share_room(const struct share_words *w, uint64_t bytes);
struct share_show {
    struct boot_gate gate;
    bool is_open;
    int32_t fd, others; /* how many have not fetched it yet */
    uint64_t end_ns;
};
/* Before the offer is told to `others` processes: opens a port if they need one. */
void share_show_begin(struct share_show *s, int others, struct share_offer *o);
/* Hands the descriptor to who asks for it: GW_OK: all have it; GW_AGAIN: call it again. */
int share_show_step(struct share_show *s, const struct share_words *w);
void share_show_end(struct share_show *s); /* once all have opened the file, or at an error */

/* ---- the others ---- */
int share_open(const struct share_words *w, const struct share_file *f, uint64_t bytes, int *fd_out); /* at least so many bytes */
struct share_fetch {
    int socket; /* -1: the file is opened under /proc */
};
void share_fetch_begin(struct share_fetch *s, const struct share_offer *o);
/* GW_OK: *fd_out is the file, the caller's; GW_AGAIN: call it again. */
int share_fetch_step(struct share_fetch *s, const struct share_words *w, const struct share_offer *o, int *fd_out);

/* ---- all ---- */
/* The kernel sets [from, from + bytes) of the memory aside, so that touching it later cannot fail, near this process. */
int share_reserve(const struct share_words *w, const struct share_file *f, int fd, uint64_t from, uint64_t bytes);
/* Maps the whole file, so that the memory begins at a multiple of `align` and of f->page; the memory is at *base_out + f->head. */
int share_map(const struct share_words *w, const struct share_file *f, int fd, uint64_t align, char **base_out);
/* Maps [from, from + bytes) of the memory, whole pages, in place of what is mapped at `at`: 0, or -1 and errno. */
int share_map_at(const struct share_file *f, int fd, uint64_t from, uint64_t bytes, void *at);

#endif
