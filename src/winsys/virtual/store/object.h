/* SPDX-License-Identifier: MIT
 *
 * The kernel's objects as they lie in the segment, and the tables that name them in
 * an open file. Everything here is done with the lock held. References between
 * objects are counted; the last put frees.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "winsys/virtual/store/node.h"

enum agxv_kind {
   AGXV_GEM,
   AGXV_VM,
   AGXV_QUEUE,
   AGXV_BOUND,
   AGXV_SYNCOBJ,
   AGXV_KINDS
};

/* Numbers from 1 to references; the lowest free one is given out. */
struct agxv_table {
   uint32_t slots; /* uint32_t[capacity]; number n lies at n - 1 */
   uint32_t capacity, hint;
};

#define AGXV_MAX_HOLDERS 16

struct agxv_file {
   struct agxv_table tables[AGXV_KINDS];
   int32_t holders[AGXV_MAX_HOLDERS]; /* processes that have it open */
   uint32_t next;
   bool has_fd;     /* descriptors were given out for it: node/file.c */
   uint64_t serial; /* from 1, used once */
};

/* A binding of a buffer, perhaps replaced since; keeps its address space. */
struct agxv_bind_record {
   uint32_t next, vm;
   uint64_t va, range;
};

struct agxv_gem {
   uint32_t refs;  /* handles, mappings, descriptors, timestamp bindings */
   uint32_t vm;    /* the only one that may bind it, or 0 */
   uint32_t binds; /* struct agxv_bind_record */
   uint32_t bind_count;
   uint32_t backing; /* struct agxv_backing, 0: its memory is the segment's */
   uint64_t first_page, pages;
};

/* A process has the buffer mapped, and with it a reference, which goes when it dies. */
struct agxv_hold {
   uint32_t next, before;
   uint32_t gem;
   int32_t pid;
};

struct agxv_bound { /* GEM_BIND_OBJECT */
   uint32_t refs;
   uint32_t gem;
   uint64_t offset, range;
};

struct agxv_queue {
   uint32_t refs; /* its number, its jobs */
   uint32_t vm;
   uint32_t priority;
   uint64_t usc_exec_base;
   uint32_t number; /* in the order of creation on the node, from 1 */
   uint32_t first_job, last_job;
   uint32_t next_active;
   uint32_t running;   /* the job that executes, or 0 */
   uint64_t last_pick; /* when it was last chosen, or became active */
};

struct agxv_syncobj {
   uint32_t refs; /* handles, descriptors, waiters; 0: gone, and watched only */
   uint32_t fence;
   uint32_t watchers; /* eventfds of processes, which keep the block, not the syncobj */
};

/* The reference behind a number, or 0. */
uint32_t agxv_table_find(struct agx_virtual_node *node, const struct agxv_table *table,
                         uint32_t number);
/* The number for ref, or 0 when the segment is full. */
uint32_t agxv_table_add(struct agx_virtual_node *node, struct agxv_table *table, uint32_t ref);
/* Takes the number away and returns what it named, or 0. */
uint32_t agxv_table_remove(struct agx_virtual_node *node, struct agxv_table *table,
                           uint32_t number);
/* Whether some number stands for ref. */
bool agxv_table_has(struct agx_virtual_node *node, const struct agxv_table *table, uint32_t ref);
/* Frees the table; what its numbers named stays. */
void agxv_table_fini(struct agx_virtual_node *node, struct agxv_table *table);

/* The file's table of that kind of object. */
static inline struct agxv_table *agxv_table_of(struct agx_virtual_file *file, enum agxv_kind kind)
{
   return &AGXV_AT(file->node, agxv_file, file->ref)->tables[kind];
}

/* The reference behind a number of the file's, or 0. */
static inline uint32_t agxv_object_find(struct agx_virtual_file *file, enum agxv_kind kind,
                                        uint32_t number)
{
   return agxv_table_find(file->node, agxv_table_of(file, kind), number);
}
