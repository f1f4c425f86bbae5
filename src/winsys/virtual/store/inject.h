/* SPDX-License-Identifier: MIT
 *
 * Fault scripts: what goes wrong when, for tests of clients. A script is read once,
 * when the node opens (node/inject_parse.c); docs/virtual.md describes its language. Nothing here
 * costs anything where there is no script.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "winsys/virtual/store/node.h"

#define AGXV_MAX_RULES    256u
#define AGXV_MAX_REQUESTS 64u
#define AGXV_SCRIPT_BYTES 65536u

enum agxv_verb {
   AGXV_INJECT_REQUEST, /* error instead of the request numbered `request` */
   AGXV_INJECT_BIND,    /* error after `value` steps of a VM_BIND */
   AGXV_INJECT_END,     /* a submission isn't executed: its fence gets error after value us */
   AGXV_INJECT_LOSE,    /* the device is lost with that submission */
   AGXV_INJECT_UNWOKEN, /* that submission's end wakes no sleeper */
   AGXV_INJECT_SLOW,    /* each command of that queue begins value us late */
   AGXV_INJECT_MEMORY,  /* value bytes of GPU memory are all there is */
};

struct agxv_rule {
   enum agxv_verb verb;
   uint32_t request;            /* index + 1; 0: any ioctl */
   uint64_t first, last, every; /* which ones: first, and each every-th from there to last */
   int32_t error;               /* negative errno */
   uint64_t value;
};

struct agxv_inject {
   uint32_t count;
   struct agxv_rule rules[AGXV_MAX_RULES];
   _Atomic uint64_t requests[AGXV_MAX_REQUESTS + 1]; /* seen so far; [0] all ioctls */
   _Atomic uint64_t binds;
};

/* The number of the pseudo request "mmap". */
#define AGXV_REQUEST_MMAP (AGXV_MAX_REQUESTS - 1)

/* 0, or the negative errno that this call is to fail with; counts it. name is for
 * the trace. Without the lock. */
int agxv_inject_request(struct agx_virtual_node *node, uint32_t index, const char *name);

/* The lock is held for what follows; all do nothing when there is no script. */

/* 0, or the error that this VM_BIND is to fail with, after *out_steps steps. */
int agxv_inject_bind(struct agx_virtual_node *node, uint64_t *out_steps);
/* Whether the submission is to be ended without execution: its error, and how much later. */
int agxv_inject_end(struct agx_virtual_node *node, uint64_t submission, int64_t *out_delay_ns);
/* Whether its end wakes no sleeper. */
bool agxv_inject_unwoken(struct agx_virtual_node *node, uint64_t submission);
/* How late each command of a queue begins, by the queue's place in the order of creation. */
int64_t agxv_inject_delay(const struct agx_virtual_node *node, uint32_t queue);
/* Whether so much GPU memory may be in use. */
bool agxv_inject_allows(struct agx_virtual_node *node, uint64_t bytes);
