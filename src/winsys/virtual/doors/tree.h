/* SPDX-License-Identifier: MIT
 *
 * The paths that the preload library shows: a small tree of real files (device folder
 * and sysfs) in a private folder of the user, to which paths below /dev/dri, /dev/udmabuf and the
 * node's sysfs folders are led. So the C library's own code lists, reads and resolves
 * them, and only the node's file must be passed off as a device.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "agx/chip.h"

#define AGXV_NODE_MAJOR 226
#define AGXV_NODE_MINOR 128

/* Makes the tree for a chip where it isn't there yet; false with words on stderr. */
bool agxv_tree_init(const struct agx_chip *chip);

/* The path to use instead of path, which counts from the folder (a descriptor or AT_FDCWD):
 * path itself, or a text in buffer. Inside only (agxv_enter). */
const char *agxv_tree_at(int folder, const char *path, char buffer[PATH_MAX]);
/* Undoes it for a path that the C library resolved, in place; false where it is another. */
bool agxv_tree_strip(char *path);
/* What opening a path of the machine or of the tree with these flags gives where the tree must
 * not take it: to users a device folder is read-only. 0: it may be opened, or is none of ours; else
 * a negative errno. Inside only. */
int agxv_tree_open_error(int folder, const char *path, int flags);
/* Whether the file is what stands for the node. */
bool agxv_tree_is_node(dev_t device, ino_t inode);
/* And for /dev/udmabuf. */
bool agxv_tree_is_udmabuf(dev_t device, ino_t inode);
/* Device and inode that the node is shown with. */
void agxv_tree_node_identity(dev_t *out_device, ino_t *out_inode);
