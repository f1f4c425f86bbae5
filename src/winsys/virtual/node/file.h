/* SPDX-License-Identifier: MIT
 *
 * Open files, as their parts see them.
 */
#pragma once

#include <stdbool.h>

#include "winsys/virtual/store/node.h"

struct agxv_file;

/* Puts this process among those that have the file open; with room for 16. The lock is held. */
void agxv_file_hold(struct agx_virtual_file *file);
/* Closes the files and cancels the jobs of processes that died. The lock is held. */
void agxv_reap(struct agx_virtual_node *node);
/* Whether a descriptor of the file is open anywhere on the host, or under way from one
 * process to another. */
bool agxv_file_has_fd(const struct agx_virtual_node *node, const struct agxv_file *file);
