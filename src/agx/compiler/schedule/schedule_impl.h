/* SPDX-License-Identifier: MIT
 *
 * What must stay before what within a block; only for schedule*.c. Nodes are the block's
 * instructions between its phis and its terminator, in program order; every edge goes
 * from a lower number to a higher one.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

struct agxc_edge {
   struct agxc_edge *next;
   uint32_t to;
   uint32_t latency; /* cycles from the one's issue to the other's, at the least */
};

struct agxc_sched_node {
   struct agxc_instr *instr;
   struct agxc_edge *edges;
   uint32_t waiting; /* edges that lead here and whose start is not issued */
   uint32_t latency; /* of the result; 0 for what becomes no instruction or a copy */
   uint32_t height;  /* cycles of long latencies from here to the block's end */
   uint32_t ready;   /* cycle from which on all operands are there */
   bool is_async;    /* takes an entry of the scoreboard and has a result */
   bool is_done;
};

struct agxc_sched_graph {
   struct agxc_block *block;
   struct agxc_value *const *next_value; /* by value: a loop's variable in the next iteration */
   uint32_t count;
   struct agxc_sched_node *nodes;
};

/* Latencies from here on are worth hiding by other work; shorter ones only order what
 * stands at the same height. */
#define AGXC_LONG_LATENCY 20

/* A binary heap of node numbers, least key first and of equal keys the least number first. Its
 * array is the user's. */
struct agxc_heap {
   uint64_t *keys; /* key << 32 | number */
   uint32_t count;
};

/* Adds an entry; the array must have room for it. */
void agxc_heap_push(struct agxc_heap *heap, uint32_t key, uint32_t number);

/* Takes out the entry at that place of the array (0: the least) and returns its number. */
uint32_t agxc_heap_take(struct agxc_heap *heap, uint32_t at);

/* The number of the entry at that place of the array. */
static inline uint32_t agxc_heap_number(const struct agxc_heap *heap, uint32_t at)
{
   return (uint32_t)heap->keys[at];
}

/* The key of the entry at that place of the array. */
static inline uint32_t agxc_heap_key(const struct agxc_heap *heap, uint32_t at)
{
   return (uint32_t)(heap->keys[at] >> 32);
}

/* Memory that instructions may touch, and how. */
enum agxc_memory {
   AGXC_MEMORY_NONE = 0,
   AGXC_MEMORY_DEVICE = 1,
   AGXC_MEMORY_LOCAL = 2,
   AGXC_MEMORY_STACK = 4,
   AGXC_MEMORY_ALL = 7,
   AGXC_MEMORY_WRITES = 8, /* or must keep its place among reads of the same memory */
};
/* enum agxc_memory of an instruction: what it may touch, and WRITES. */
unsigned agxc_memory_of(const struct agxc_instr *instr);

/* True when the two accesses (device, local or stack) can't touch a common byte. */
bool agxc_memory_apart(const struct agxc_instr *a, const struct agxc_instr *b);

/* Cycles from issue until the result can be used; 0 for what becomes no instruction. */
uint32_t agxc_sched_latency(const struct agxc_instr *instr);

/* Sets each value's def, and gives by value what the phis of loops take from the end of an
 * iteration. Requires agxc_index. */
struct agxc_value *const *agxc_sched_prepare(struct agxc_shader *shader);

/* Requires agxc_index and agxc_sched_prepare. In the arena. */
void agxc_sched_graph_build(struct agxc_sched_graph *graph, struct agxc_shader *shader,
                            struct agxc_block *block, struct agxc_value *const *next_value);

/* How often the instruction names src's value, from its first source up to src itself. */
uint32_t agxc_sched_times_named(const struct agxc_instr *instr, const struct agxc_ref *src);

/* Puts the nodes into that order, in front of the block's terminator; false when it was theirs. */
bool agxc_sched_apply(struct agxc_block *block, const struct agxc_sched_node *nodes,
                      const uint32_t *order, uint32_t count);
