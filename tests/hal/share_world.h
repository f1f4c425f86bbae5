/* SPDX-License-Identifier: MIT
 *
 * A device over a node that fails requests on demand, with a command buffer for each of two queues,
 * and another file of the same node that stands for other processes.
 */
#pragma once

#include "../winsys/timeline_bed.h"
#include "failing_kmd.h"
#include "fixture.h"

struct world {
   struct failing_kmd kmd;
   struct fixture f;
   struct bed bed; /* stream 0 holds what others do */
   struct agx_executable *kernel;
   struct agx_buffer *buffers[2];
   uint32_t *words[2];
   struct agx_command_buffer *commands[2]; /* for queue 0 and 1 */
};

/* script: AGX_VIRTUAL_INJECT, or NULL; desc: the instance's, or NULL. */
void world_open(struct world *w, const char *script, const struct agx_instance_desc *desc);
void world_close(struct world *w);
/* Executes the queue's command buffer. wait: NO_POINT is none. */
void world_submit(struct world *w, uint32_t queue, struct agx_point wait, struct agx_point signal);
/* Until the GPU has come as far, of which the library is not told. */
void world_let_run(struct world *w, uint32_t queue, uint64_t epoch);
uint32_t world_in_flight(struct world *w, uint32_t queue);
/* Returns once so many are: the completion thread may be sending what a call has unblocked. */
void world_wait_in_flight(struct world *w, uint32_t queue, uint32_t count);
/* As an importer of the sync_file sees it, which is closed. */
agx_status world_outcome(struct world *w, int fd);
/* The timeline of others as a semaphore of this device. */
struct agx_semaphore *world_import(struct world *w, struct agxw_timeline *timeline);
