/* SPDX-License-Identifier: MIT
 *
 * Random requests that know the structs: what the soak test does with one node. Most
 * fields are sound and name things that exist; some are spoilt, and now and then a whole
 * word, a size or a pointer.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "device.h"

#define SOAK_FILES    4
#define SOAK_KINDS    5  /* buffers, address spaces, queues, timestamp objects, syncobjs */
#define SOAK_NAMES    24 /* of each kind that are remembered for a file */
#define SOAK_FDS      12 /* of each kind that are kept open */
#define SOAK_REQUESTS 28 /* that the node knows */

enum soak_kind {
   SOAK_GEM,
   SOAK_VM,
   SOAK_QUEUE,
   SOAK_BOUND,
   SOAK_SYNCOBJ
};

/* An open file and what is thought to exist in it; counted as descriptors are, so that a
 * request under way keeps it. */
struct soak_file {
   unsigned refs;
   struct agx_virtual_file *file;
   uint32_t names[SOAK_KINDS][SOAK_NAMES];
   uint32_t counts[SOAK_KINDS];
};

/* What the threads of a round share. */
struct soak_world {
   struct agx_virtual_node *node;
   pthread_mutex_t lock;
   struct soak_file *files[SOAK_FILES];
   int fds[SOAK_FDS]; /* of any kind; -1: none */
   _Atomic uint64_t accepted[SOAK_REQUESTS], refused[SOAK_REQUESTS], faulted;
};

/* One thread's view. */
struct soak {
   struct agx_test_rng rng;
   struct soak_world *world;
   struct soak_file *file; /* of the request under way */
   uint8_t *scratch;       /* arrays, which end where nothing is mapped */
   size_t scratch_bytes;
   uint8_t *whole; /* the scratch memory and the void around it */
   size_t whole_bytes;
   uint64_t requests;
   bool is_child; /* gives out no descriptors: it can't tell whether its parent has them still */
};

void soak_world_open(struct soak_world *world, struct agx_virtual_node *node);
void soak_world_close(struct soak_world *world);
void soak_begin(struct soak *soak, struct soak_world *world, uint64_t seed);
void soak_end(struct soak *soak);
/* One request, or a few that belong together. */
void soak_step(struct soak *soak);
/* The name of a request by its index, NULL past the last. */
const char *soak_request_name(unsigned index);
