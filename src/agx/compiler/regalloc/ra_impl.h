/* SPDX-License-Identifier: MIT
 *
 * The register file while registers are handed out; only for the files ra*.c. The walk
 * is in program order, which is an order of dominance, so that whatever an instruction
 * reads has its place already. A value may move while it lives (a parallel copy makes
 * room); therefore `place` is where it is now, and borders of blocks remember theirs.
 */
#pragma once

#include "agx/chip.h"
#include "agx/compiler/ir/ir.h"
#include "agx/compiler/analysis/liveness.h"
#include "agx/compiler/regalloc/parallel_copy_impl.h"

#define AGXC_NOWHERE 0xffff

struct agxc_assignment {
   struct agxc_value *value;
   uint16_t half;
};

/* Where values are when a block begins; results of its phis come last. */
struct agxc_border {
   bool is_decided;
   uint32_t count;
   struct agxc_assignment *places;
};

/* The collect that a value goes into, and at which half of it. */
struct agxc_slot {
   struct agxc_instr *collect;
   uint32_t offset;
};

/* A value that is read where another one holds it: it has no halves of its own. */
struct agxc_part {
   struct agxc_value *value;
   const struct agxc_value *whole;
   uint32_t offset; /* in halves */
};
#define AGXC_RA_MOST_PARTS 16u

struct agxc_ra {
   struct agxc_shader *shader;
   struct agxc_liveness *liveness;
   uint32_t first, limit; /* halves that may be used: first <= half < limit */
   uint32_t used;         /* one above the highest half used */
   uint32_t spare;        /* halves that names in block may keep beyond its pressure */

   /* By value. */
   uint16_t *place;
   uint32_t *last_use; /* instruction index, in the current block */
   struct agxc_slot *slot;
   struct agxc_value **phi; /* result of a phi that takes it */

   struct agxc_border *borders; /* by block */
   struct agxc_block *block;
   struct agxc_live_set live_out;               /* at the end of block */
   agx_bitset_word wanted[AGX_GPR_HALVES / 64]; /* places that phis behind block are in already */
   struct agxc_value *holder[AGX_GPR_HALVES];   /* NULL: free */

   /* Elements of a vector that is nothing but their places: they end with its user. */
   struct agxc_value *late[AGX_ISA_MAX_OPERANDS];
   uint32_t late_count;

   struct agxc_part parts[AGXC_RA_MOST_PARTS]; /* of the block in hand */
   uint32_t part_count;

   struct agxc_copy copies[2 * AGX_GPR_HALVES];
   uint32_t copy_count;
};

/* Whether nothing behind the instruction, which is in the block in hand, reads the value. */
static inline bool agxc_ra_dies_at(const struct agxc_ra *ra, const struct agxc_value *value,
                                   const struct agxc_instr *instr)
{
   return ra->last_use[value->id] <= instr->index && !agx_bitset_test(ra->live_out.bits, value->id);
}

/* ---- place.c ----------------------------------------------------------- */

/* Whether the value lies in the halves of another one. */
static inline bool agxc_ra_is_part(const struct agxc_ra *ra, const struct agxc_value *value)
{
   uint32_t place = ra->place[value->id];
   return place != AGXC_NOWHERE && ra->holder[place] != value;
}

/* Marks the value's halves as its own, or as free. */
void agxc_ra_put(struct agxc_ra *ra, struct agxc_value *value, uint32_t half);
void agxc_ra_free(struct agxc_ra *ra, struct agxc_value *value);
/* True when halves half .. half + count may be used and are free. */
bool agxc_ra_is_free(const struct agxc_ra *ra, uint32_t half, uint32_t count);
/* A free place for the value, the one that saves copies if there is one; AGXC_NOWHERE when
 * no gap is wide enough. */
uint32_t agxc_ra_find(const struct agxc_ra *ra, const struct agxc_value *value);
/* Places count values densely from ra->first, even ones first, and returns the end; a
 * value's place is only written to places. */
uint32_t agxc_ra_pack(const struct agxc_ra *ra, struct agxc_assignment *places, uint32_t count);
/* The values in the file now, in order of their halves. */
uint32_t agxc_ra_holders(const struct agxc_ra *ra, struct agxc_assignment *out_places);
void agxc_ra_no_room(const struct agxc_ra *ra, uint32_t needed) __attribute__((noreturn));

/* ---- copy.c ------------------------------------------------------------ */

/* Queues a copy of halves from src (register, uniform, constant) to half. */
void agxc_ra_copy(struct agxc_ra *ra, uint32_t half, struct agxc_ref src, uint32_t halves);
/* Emits what is queued. */
void agxc_ra_flush(struct agxc_ra *ra, struct agxc_builder *b);
/* A collect, split or move, or an instruction that only cuts a value: copies at the most. */
bool agxc_ra_is_copy(const struct agxc_instr *instr);

/* ---- rename.c ---------------------------------------------------------- */

/* Before anything else: vectors are put together right before the only one who reads them. */
void agxc_ra_sink_collects(struct agxc_shader *shader);
/* A copy, or a cut, of a value that lives on and is only read in this block: readers get the
 * value itself, and the instruction is gone. False when that can't be. */
bool agxc_ra_rename(struct agxc_ra *ra, struct agxc_instr *copy);
/* The elements of a vector that lives on, longer than each of them: readers find them there, and
 * the instruction is gone. False when that can't be. */
bool agxc_ra_name_parts(struct agxc_ra *ra, struct agxc_instr *split);
/* A vector whose elements stand side by side already and live on: its reader, the next
 * instruction, reads them there. False when that can't be. */
bool agxc_ra_borrow(struct agxc_ra *ra, const struct agxc_instr *collect);

/* ---- evict.c ----------------------------------------------------------- */

/* Makes a gap for value by moving few others before instr; false when that can't be done.
 * dying are the instruction's sources that are free already but still have to be read. */
bool agxc_ra_evict(struct agxc_ra *ra, struct agxc_instr *instr, const struct agxc_value *value,
                   const struct agxc_assignment *dying, uint32_t dying_count);

/* ---- border.c ---------------------------------------------------------- */

/* Takes over the places that a block begins with. */
void agxc_ra_enter(struct agxc_ra *ra, struct agxc_block *block);
/* At the block's end: copies to where its successors want things. */
void agxc_ra_leave(struct agxc_ra *ra, struct agxc_block *block);

/* ---- validate.c -------------------------------------------------------- */

struct agxc_ra_record;
/* Keeps the code as it is before allocation; requires agxc_index. */
struct agxc_ra_record *agxc_ra_record(struct agxc_shader *shader);
/* Fails the compilation with AGX_INTERNAL when an operand can read something else than
 * its value's definition wrote. */
void agxc_ra_validate(struct agxc_ra *ra, const struct agxc_ra_record *record);
