/* mqs.h -- the message queue interface between a debugger and an MPI library's own reader (the names and layouts are the interface's):
 * the debugger loads the library, gives it functions that read the program, and asks for communicators and operations one by one.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TOOLS_MQS_H
#define GW_TOOLS_MQS_H

#include <stddef.h>

enum { MQS_INTERFACE_COMPATIBILITY = 2 };
typedef unsigned long mqs_taddr_t; /* an address in the program */
typedef long mqs_tword_t;

/* The debugger's own; we only hand them back. */
typedef struct mqs_image_ mqs_image;
typedef struct mqs_process_ mqs_process;
typedef struct mqs_type_ mqs_type;
/* Ours; the debugger keeps a pointer for each image and process. */
typedef struct mqs_image_info_ mqs_image_info;
typedef struct mqs_process_info_ mqs_process_info;

typedef enum { mqs_lang_c = 'c', mqs_lang_cplus = 'C', mqs_lang_f77 = 'f', mqs_lang_f90 = 'F' } mqs_lang_code;
typedef enum { mqs_pending_sends, mqs_pending_receives, mqs_unexpected_messages } mqs_op_class;
enum { mqs_ok, mqs_no_information, mqs_end_of_list, mqs_first_user_code = 100 };
enum mqs_status { mqs_st_pending, mqs_st_matched, mqs_st_complete };
enum { MQS_INVALID_PROCESS = -1 };

typedef struct {
    int short_size, int_size, long_size, long_long_size, pointer_size;
} mqs_target_type_sizes;

typedef struct {
    mqs_taddr_t unique_id;
    mqs_tword_t local_rank, size;
    char name[64];
} mqs_communicator;

typedef struct {
    int status;
    mqs_tword_t desired_local_rank, desired_global_rank; /* of the other process; -1: any */
    int tag_wild;
    mqs_tword_t desired_tag, desired_length;
    int system_buffer; /* the data lies in the library */
    mqs_taddr_t buffer;
    /* Where the two sides have met. */
    mqs_tword_t actual_local_rank, actual_global_rank, actual_tag, actual_length;
    char extra_text[5][64]; /* lines for people, the first that is empty ends them */
} mqs_pending_operation;

typedef struct {
    void *(*mqs_malloc_fp)(size_t);
    void (*mqs_free_fp)(void *);
    void (*mqs_dprints_fp)(const char *);
    char *(*mqs_errorstring_fp)(int);
    void (*mqs_put_image_info_fp)(mqs_image *, mqs_image_info *);
    mqs_image_info *(*mqs_get_image_info_fp)(mqs_image *);
    void (*mqs_put_process_info_fp)(mqs_process *, mqs_process_info *);
    mqs_process_info *(*mqs_get_process_info_fp)(mqs_process *);
} mqs_basic_callbacks;

typedef struct {
    void (*mqs_get_type_sizes_fp)(mqs_process *, mqs_target_type_sizes *);
    int (*mqs_find_function_fp)(mqs_image *, char *, mqs_lang_code, mqs_taddr_t *);
    int (*mqs_find_symbol_fp)(mqs_image *, char *, mqs_taddr_t *);
    mqs_type *(*mqs_find_type_fp)(mqs_image *, char *, mqs_lang_code);
    int (*mqs_field_offset_fp)(mqs_type *, char *);
    int (*mqs_sizeof_fp)(mqs_type *);
} mqs_image_callbacks;

typedef struct {
    int (*mqs_get_global_rank_fp)(mqs_process *);
    mqs_image *(*mqs_get_image_fp)(mqs_process *);
    int (*mqs_fetch_data_fp)(mqs_process *, mqs_taddr_t, int, void *);
    void (*mqs_target_to_host_fp)(mqs_process *, const void *, void *, int);
} mqs_process_callbacks;

/* What the debugger calls; errors are above mqs_first_user_code, and mqs_dll_error_string explains them. */
void mqs_setup_basic_callbacks(const mqs_basic_callbacks *);
char *mqs_version_string(void);
int mqs_version_compatibility(void);
int mqs_dll_taddr_width(void);
char *mqs_dll_error_string(int code);
int mqs_setup_image(mqs_image *, const mqs_image_callbacks *);
int mqs_image_has_queues(mqs_image *, char **message_out);
void mqs_destroy_image_info(mqs_image_info *);
int mqs_setup_process(mqs_process *, const mqs_process_callbacks *);
int mqs_process_has_queues(mqs_process *, char **message_out);
void mqs_destroy_process_info(mqs_process_info *);
int mqs_update_communicator_list(mqs_process *);
int mqs_setup_communicator_iterator(mqs_process *);
int mqs_get_communicator(mqs_process *, mqs_communicator *out);
int mqs_get_comm_group(mqs_process *, int *ranks_out); /* [size], in the job */
int mqs_next_communicator(mqs_process *);
int mqs_setup_operation_iterator(mqs_process *, int op_class);
int mqs_next_operation(mqs_process *, mqs_pending_operation *out);

#endif
