/* SPDX-License-Identifier: MIT
 *
 * Opening of render nodes with a verdict that a person can act on.
 */
#pragma once

#include "winsys/winsys.h"

/* Opens the node at path if it is one of this driver's, or with any_driver if it has timeline
 * syncobjs. The file descriptor, which belongs to the caller, or -1; *out_info says what was found
 * in either case. */
int agxw_node_open(const char *path, bool any_driver, struct agxw_node_info *out_info);
