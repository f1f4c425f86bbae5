/* SPDX-License-Identifier: MIT
 *
 * Checks a register allocation against the SSA form that it came from: on every path,
 * what an operand reads is what the value's definition wrote. The borders that the
 * allocator kept are the witness: each block is walked from its own border, and its end
 * must hold what the borders behind it promise; so no fixed point is needed.
 *
 * What a half holds is a content: a part of a value, of a constant or of a uniform.
 * Values that are only names for others (MOV, COLLECT, SPLIT) are looked through.
 */
#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/regalloc/ra_impl.h"

enum content_kind {
   UNKNOWN,
   PART,    /* of a value */
   NUMBER,  /* 16 bits */
   UNIFORM, /* a uniform half */
};

struct content {
   uint32_t kind, id, part;
};

/* How the code was before. */
struct agxc_ra_record {
   uint32_t instr_count;
   struct agxc_instr *was;    /* by index: a copy with its own operands */
   struct agxc_instr **instr; /* by index: the instruction itself */
   struct agxc_instr **def;   /* by value: the MOV, COLLECT or SPLIT (a copy) behind it */
   struct agxc_instr ***phis; /* by block: copies, NULL at the end */
};

struct checking {
   struct agxc_ra *ra;
   const struct agxc_ra_record *record;
   struct content file[AGX_GPR_HALVES];
   uint32_t skip; /* instructions of a swap that are done already */
};

static struct agxc_instr copy_of(struct agx_arena *arena, const struct agxc_instr *instr)
{
   struct agxc_instr copy = *instr;
   copy.operand = AGX_ARENA_ARRAY(arena, struct agxc_ref, instr->operand_count);
   memcpy(copy.operand, instr->operand, instr->operand_count * sizeof(*copy.operand));
   return copy;
}

static void record_block(struct agxc_shader *shader, struct agxc_ra_record *record,
                         struct agxc_block *block)
{
   uint32_t phis = 0, count = agxc_count_phis(block);
   record->phis[block->index] = AGX_ARENA_ARRAY(shader->arena, struct agxc_instr *, count + 1);
   agxc_foreach_instr (instr, block) {
      struct agxc_instr *copy = &record->was[instr->index];
      *copy = copy_of(shader->arena, instr);
      record->instr[instr->index] = instr;
      if (instr->op == AGXC_OP_PHI)
         record->phis[block->index][phis++] = copy;
      if (!agxc_ra_is_copy(instr))
         continue;
      agxc_foreach_dest (dest, instr)
         if (dest->kind == AGXC_VALUE)
            record->def[dest->value->id] = copy;
   }
}

struct agxc_ra_record *agxc_ra_record(struct agxc_shader *shader)
{
   struct agx_arena *arena = shader->arena;
   struct agxc_ra_record *record = AGX_ARENA_NEW(arena, struct agxc_ra_record);
   record->instr_count = shader->instr_count;
   record->was = AGX_ARENA_ARRAY(arena, struct agxc_instr, shader->instr_count);
   record->instr = AGX_ARENA_ARRAY(arena, struct agxc_instr *, shader->instr_count);
   record->def = AGX_ARENA_ARRAY(arena, struct agxc_instr *, shader->value_count);
   record->phis = AGX_ARENA_ARRAY(arena, struct agxc_instr **, shader->block_count);
   agxc_foreach_block (block, shader)
      record_block(shader, record, block);
   return record;
}

/* ---- contents --------------------------------------------------------------- */

/* The copy's source that lies at half `part` of its destination number `dest`; *part
 * becomes the half within that source. */
static const struct agxc_ref *source_at(const struct agxc_instr *copy, uint32_t id, uint32_t *part)
{
   agxc_foreach_dest (dest, copy) {
      if (dest->kind == AGXC_VALUE && dest->value->id == id)
         break;
      *part += agxc_ref_halves(dest);
   }
   agxc_foreach_src (src, copy) {
      if (*part < agxc_ref_halves(src))
         return src;
      *part -= agxc_ref_halves(src);
   }
   return NULL;
}

/* Half `part` of what ref names. */
static struct content content_of(const struct agxc_ra_record *record, const struct agxc_ref *ref,
                                 uint32_t part)
{
   while (ref && ref->kind == AGXC_VALUE) {
      uint32_t id = ref->value->id;
      const struct agxc_instr *copy = record->def[id];
      if (!copy)
         return (struct content){PART, id, part};
      ref = source_at(copy, id, &part);
   }
   if (ref && ref->kind == AGXC_IMM)
      return (struct content){NUMBER, part < 4 ? (uint16_t)((uint64_t)ref->imm >> 16 * part) : 0,
                              0};
   if (ref && ref->kind == AGXC_UNIFORM)
      return (struct content){UNIFORM, ref->half + part, 0};
   return (struct content){UNKNOWN, 0, 0};
}

static bool same(struct content a, struct content b)
{
   return a.kind == b.kind && a.id == b.id && a.part == b.part;
}

static void fail(const struct checking *checking, const char *where, uint32_t half,
                 struct content want)
{
   const struct content *is = &checking->file[half];
   agxc_fail(checking->ra->shader, AGX_INTERNAL,
             "%s: register allocation: block %u, %s: half %u holds %u:%u.%u, not %u:%u.%u",
             checking->ra->shader->name, checking->ra->block->index, where, half, is->kind, is->id,
             is->part, want.kind, want.id, want.part);
}

/* half .. must hold ref; what was never defined may be anything. */
static void expect(const struct checking *checking, const char *where, uint32_t half,
                   const struct agxc_ref *ref)
{
   for (uint32_t i = 0; i < agxc_ref_halves(ref); i++) {
      struct content want = content_of(checking->record, ref, i);
      if (want.kind != UNKNOWN && !same(checking->file[half + i], want))
         fail(checking, where, half + i, want);
   }
}

/* ---- instructions ------------------------------------------------------------- */

static void swap(struct content *a, struct content *b)
{
   struct content saved = *a;
   *a = *b;
   *b = saved;
}

/* An instruction that the allocator put in: a move, a constant, a rotation of halves, or
 * the first of three xors. */
static void run_copy(struct checking *checking, const struct agxc_instr *instr)
{
   const struct agxc_ref *dest = agxc_machine_d(instr);
   const struct agxc_ref *src = agxc_opcode_has(agxc_opcode(instr), AGXC_MACHINE_A)
                                   ? agxc_machine_a(instr)
                                   : agxc_machine_imm(instr);
   if (agxc_has_opcode(instr, AGX_ISA_OP_EXTR)) {
      swap(&checking->file[dest->half], &checking->file[dest->half + 1]);
      return;
   }
   if (agxc_has_opcode(instr, AGX_ISA_OP_XOR)) {
      for (uint32_t i = 0; i < dest->bits / 16u; i++)
         swap(&checking->file[dest->half + i], &checking->file[agxc_machine_b(instr)->half + i]);
      checking->skip = 2;
      return;
   }
   for (uint32_t i = 0; i < dest->bits / 16u; i++)
      checking->file[dest->half + i] = src->kind == AGXC_REG ? checking->file[src->half + i]
                                                             : content_of(checking->record, src, i);
}

static void run_instr(struct checking *checking, const struct agxc_instr *instr,
                      const struct agxc_instr *was)
{
   for (uint32_t i = instr->dest_count; i < (uint32_t)instr->dest_count + instr->src_count; i++)
      if (was->operand[i].kind == AGXC_VALUE)
         expect(checking, agxc_name_of(instr), instr->operand[i].half, &was->operand[i]);
   for (uint32_t i = 0; i < instr->dest_count; i++)
      for (uint32_t k = 0;
           was->operand[i].kind == AGXC_VALUE && k < agxc_ref_halves(&was->operand[i]); k++)
         checking->file[instr->operand[i].half + k] =
            content_of(checking->record, &was->operand[i], k);
}

/* ---- blocks ---------------------------------------------------------------------- */

static void enter(struct checking *checking, const struct agxc_block *block)
{
   const struct agxc_border *border = &checking->ra->borders[block->index];
   memset(checking->file, 0, sizeof(checking->file));
   for (uint32_t i = 0; i < border->count; i++) {
      struct agxc_ref ref = agxc_use(border->places[i].value);
      for (uint32_t k = 0; k < agxc_ref_halves(&ref); k++)
         checking->file[border->places[i].half + k] = content_of(checking->record, &ref, k);
   }
}

static void leave(struct checking *checking, const struct agxc_block *block,
                  const struct agxc_block *succ)
{
   const struct agxc_border *border = &checking->ra->borders[succ->index];
   struct agxc_instr **phis = checking->record->phis[succ->index];
   uint32_t phi_count = 0, pred = agxc_pred_index(succ, block);
   while (phis[phi_count])
      phi_count++;
   for (uint32_t i = 0; i < border->count; i++) {
      const struct agxc_assignment *place = &border->places[i];
      uint32_t live = border->count - phi_count;
      struct agxc_ref ref = i < live ? agxc_use(place->value) : agxc_srcs(phis[i - live])[pred];
      expect(checking, "its end", place->half, &ref);
   }
}

void agxc_ra_validate(struct agxc_ra *ra, const struct agxc_ra_record *record)
{
   struct checking checking = {.ra = ra, .record = record};
   agxc_foreach_block (block, ra->shader) {
      if (block->index > 0 && block->pred_count == 0)
         continue;
      ra->block = block;
      enter(&checking, block);
      agxc_foreach_instr (instr, block) {
         bool is_ours = record->instr[instr->index] != instr;
         if (is_ours && checking.skip > 0)
            checking.skip--;
         else if (is_ours)
            run_copy(&checking, instr);
         else
            run_instr(&checking, instr, &record->was[instr->index]);
      }
      for (unsigned i = 0; i < 2; i++)
         if (block->succs[i])
            leave(&checking, block, block->succs[i]);
   }
}
