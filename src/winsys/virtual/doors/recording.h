/* SPDX-License-Identifier: MIT
 *
 * Recordings of what programs ask of the node, for the doors. `agxdump record` makes the capture
 * file and says in the environment that they go on with it: AGX_CAPTURE names it, and
 * AGX_CAPTURE_OPTIONS has the word "join".
 */
#pragma once

#include <stdbool.h>

#include "winsys/virtual/virtual.h"

struct agxv_recording; /* of one open file */

/* Begins one where the environment asks for it; NULL where it doesn't, and where none can be made,
 * which is said on standard error. is_remote: its requests are another process's. */
struct agxv_recording *agxv_recording_begin(struct agx_virtual_node *node, bool is_remote);
/* Before the file is closed. NULL is fine. */
void agxv_recording_end(struct agxv_recording *recording, struct agx_virtual_file *file);
/* agx_virtual_ioctl, recorded unless recording is NULL. */
int agxv_recording_ioctl(struct agxv_recording *recording, struct agx_virtual_file *file,
                         unsigned long request, void *argument);

/* The first descriptor from that number on by which a capture file is written, or INT_MAX; and
 * giving the number up for another one: false when fd is none or can't be moved. */
int agxv_recording_next_fd(int first);
bool agxv_recording_move_fd(int fd);
