/* SPDX-License-Identifier: MIT
 *
 * Open files, as their parts see them.
 */
#pragma once

#include <stdbool.h>

#include "winsys/virtual/node/node.h"

struct agxv_file;

/* Whether a descriptor of the file is open anywhere on the host, or under way from one
 * process to another. */
bool agxv_file_has_fd(const struct agx_virtual_node *node, const struct agxv_file *file);
