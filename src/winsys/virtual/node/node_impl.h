/* SPDX-License-Identifier: MIT
 *
 * Between the files of the node: open files, handlers, and the reading of fault scripts.
 */
#pragma once

#include <stdbool.h>

#include "winsys/virtual/store/inject.h"
#include "winsys/virtual/store/node.h"

struct agxv_file;

/* Puts this process among those that have the file open; with room for 16. The lock is held. */
void agxv_file_hold(struct agx_virtual_file *file);
/* Closes the files and cancels the jobs of processes that died. The lock is held. */
void agxv_reap(struct agx_virtual_node *node);
/* Whether a descriptor of the file is open anywhere on the host, or under way from one
 * process to another. */
bool agxv_file_has_fd(const struct agx_virtual_node *node, const struct agxv_file *file);

/* The handlers of requests about the device itself, and submission. */

AGXV_HANDLER(version);
AGXV_HANDLER(get_cap);
AGXV_HANDLER(get_params);
AGXV_HANDLER(get_time);
AGXV_HANDLER(submit);

/* Reads the options that the environment gives. AGX_INVALID_ARGUMENT names the variable, its value
 * and what it may be. */
AGX_MUST_CHECK agx_status agxv_options_read(struct agxv_options *out_options);
/* Reads the script that AGX_VIRTUAL_INJECT names, to be freed; NULL when there is none. */
AGX_MUST_CHECK agx_status agxv_options_read_script(struct agxv_inject **out_inject);

/* Reading fault scripts (store/inject.h). */

/* Fills out_inject from a script. AGX_INVALID_ARGUMENT names line and word. */
AGX_MUST_CHECK agx_status agxv_inject_parse(const char *text, size_t length,
                                            struct agxv_inject *out_inject);
/* What AGX_VIRTUAL_INJECT says: a file's path, or the script itself where it has a blank. */
AGX_MUST_CHECK agx_status agxv_inject_read(const char *value, struct agxv_inject *out_inject);

/* The index of a request by its name, such as "gem_create", or UINT32_MAX (dispatch.c). */
uint32_t agxv_request_find(const char *name, size_t length);
