/* SPDX-License-Identifier: MIT
 *
 * Between ssa.c (slots, renaming) and ssa_phis.c (where slots need phis).
 */
#pragma once

#include "agx/compiler/ir/dominance.h"
#include "agx/compiler/ir/ssa.h"

/* What a slot holds at the end of a block. */
struct agxc_slot_write {
   struct agxc_block *block;
   uint32_t slot;
   uint32_t next; /* of the same block: index + 1 */
   uint32_t next_in_slot;
   struct agxc_ref ref;
};

/* A slot at the entry of a block: read there, or joined there by a phi. */
struct agxc_arrival {
   struct agxc_block *block;
   uint32_t slot;
   uint32_t next; /* of the same kind and block: index + 1 */
   struct agxc_value *value;
   struct agxc_ref *sources; /* phis: one per predecessor */
   bool replaced;
   struct agxc_ref by;
};

struct agxc_ssa {
   struct agxc_shader *shader;
   struct agx_arena *arena;
   uint32_t *table; /* open addressing: write + 1 */
   uint32_t table_size;
   struct agxc_slot_write *writes;
   uint32_t write_count, write_capacity;
   uint8_t *slot_bits, *slot_elements;
   uint32_t slot_count, slot_capacity;
   struct agxc_arrival *arrivals; /* reads, then phis */
   uint32_t arrival_count, arrival_capacity, read_count;
   uint32_t *of_value; /* arrival + 1 by value id, once all exist */
};

/* By block index; lists hold index + 1. */
struct agxc_ssa_graph {
   struct agxc_dominance *dominance;
   uint32_t (*place)[2];            /* of a block among the predecessors of each successor */
   uint32_t *reads, *writes, *phis; /* first of each block */
};

/* Adds a value of the slot's shape that stands for what arrives in the block: a read, or a phi.
 * */
struct agxc_arrival *agxc_ssa_add_arrival(struct agxc_ssa *ssa, struct agxc_block *block,
                                          uint32_t slot);

/* Adds the phis of all slots that are read; first_write is each slot's, by next_in_slot. */
void agxc_ssa_place_phis(struct agxc_ssa *ssa, struct agxc_ssa_graph *graph,
                         const uint32_t *first_write);
