/* SPDX-License-Identifier: MIT
 *
 * What the files spill*.c share while values are kept in registers or sent to scratch
 * memory. A value has one place in memory, written where it is defined; whatever is
 * read back is a version of it, and agxc_ssa puts the versions together in the end.
 */
#pragma once

#include "agx/compiler/regalloc/spill_distance_impl.h"

struct agxc_kept {
   struct agxc_value *value;
   uint32_t next_use; /* position in the block in hand, or NEVER */
};

/* Values in registers. */
struct agxc_kept_set {
   struct agxc_kept *values;
   uint32_t count, halves;
};

struct agxc_spilling {
   struct agxc_shader *shader;
   struct agxc_liveness *liveness;
   struct agxc_next_uses *uses;
   uint32_t limit;       /* halves that may be kept */
   uint32_t value_count; /* before versions were made */

   struct agxc_kept_set now;
   uint32_t *index;  /* by value: place in now + 1 */
   uint32_t *pinned; /* by value: number of the last instruction that needs it kept */
   uint32_t instr;   /* number of the one in hand */

   /* By value, all of them facts about the whole shader. */
   agx_bitset_word *in_memory; /* must be stored where it is defined */
   agx_bitset_word *reloaded;  /* has versions */
   agx_bitset_word *is_memory_phi;
   uint32_t *place;                /* in scratch memory, + 1; 0: none yet */
   struct agxc_value **version_of; /* by id of a version */
   uint32_t version_capacity;

   /* By block: what is kept where it begins and ends. */
   struct agxc_kept_set *entry, *exit;
   bool *has_entry;
};

/* ---- spill_memory.c ---------------------------------------------------- */

/* True for values that memory can hold: up to four elements. */
bool agxc_spill_is_possible(const struct agxc_value *value);
/* True for values that are computed again more cheaply than read back. */
bool agxc_spill_is_cheap(const struct agxc_value *value);
/* Makes a version of the value at b, from memory or by computing it again. */
struct agxc_value *agxc_spill_reload(struct agxc_spilling *s, struct agxc_builder b,
                                     struct agxc_value *value);
/* Stores data at the place of value. */
void agxc_spill_store(struct agxc_spilling *s, struct agxc_builder b, struct agxc_value *value,
                      struct agxc_ref data);
/* When all is decided: stores behind definitions, then single definitions again. */
void agxc_spill_finish(struct agxc_spilling *s);
