/* SPDX-License-Identifier: MIT
 *
 * Buffers by binding become memory by address: the address of a binding is a 64-bit uniform,
 * its size a 32-bit one; push constants and the grid's size are uniforms themselves.
 * Requires SSA. agxc_lower_robust checks the accesses of robust bindings.
 */
#include "agx/compiler/lower/lower.h"

#define MAX_BASE_HALF 252 /* a base names halves below 256 */

struct lowering {
   struct agxc_shader *shader;
   struct agxc_ref *replaced; /* by value id: the uniform to use instead; kind NONE if none */
};

static struct agxc_ref address_of(struct agxc_shader *shader, int64_t binding)
{
   return agxc_uniform_slot(shader, AGX_UNIFORM_BUFFER_ADDRESS, (uint32_t)binding, 0, 64);
}

static struct agxc_ref heap_of(struct agxc_shader *shader, const struct agxc_instr *instr)
{
   return agxc_uniform_slot(shader, AGX_UNIFORM_HEAP, (uint32_t)agxc_imm_of(instr, 0),
                            (uint64_t)agxc_imm_of(instr, 1), 64);
}

static struct agxc_ref size_of(struct agxc_shader *shader, int64_t binding)
{
   return agxc_uniform_slot(shader, AGX_UNIFORM_BUFFER_SIZE, (uint32_t)binding, 0, 32);
}

static void replace_by(struct agxc_builder *b, struct agxc_instr *old, enum agxc_op op,
                       unsigned src_count, const struct agxc_ref *srcs, int64_t immediate)
{
   struct agxc_instr *instr = agxc_instr_new(b->shader, op);
   agx_assert(instr->src_count == src_count);
   if (instr->dest_count) {
      instr->operand[0] = old->operand[0];
      instr->operand[0].value->def = instr;
   }
   for (unsigned i = 0; i < src_count; i++)
      instr->operand[instr->dest_count + i] = srcs[i];
   instr->operand[instr->dest_count + src_count] = agxc_imm((uint64_t)immediate, 64);
   agxc_insert(b, instr);
   agxc_instr_remove(old);
}

static void lower_load(struct agxc_builder *b, struct agxc_instr *instr)
{
   int64_t binding = agxc_imm_of(instr, 0);
   struct agxc_ref srcs[2] = {
      address_of(b->shader, binding),
      instr->operand[1],
   };
   replace_by(b, instr, AGXC_OP_LOAD_GLOBAL, 2, srcs, agxc_imm_of(instr, 1));
}

static void lower_store(struct agxc_builder *b, struct agxc_instr *instr)
{
   int64_t binding = agxc_imm_of(instr, 0);
   struct agxc_ref srcs[3] = {
      address_of(b->shader, binding),
      instr->operand[0],
      instr->operand[1],
   };
   replace_by(b, instr, AGXC_OP_STORE_GLOBAL, 3, srcs, agxc_imm_of(instr, 1));
}

static void lower_atomic(struct agxc_builder *b, struct agxc_instr *instr)
{
   int64_t binding = agxc_imm_of(instr, 0);
   struct agxc_ref srcs[4] = {
      address_of(b->shader, binding),
      instr->operand[1],
      instr->operand[2],
      instr->operand[3],
   };
   replace_by(b, instr, AGXC_OP_ATOMIC_GLOBAL, 4, srcs, agxc_imm_of(instr, 1));
}

/* ---- values that are uniforms ----------------------------------------- */

/* A vector of push constants is replaced where it is split. */
static void lower_push(struct lowering *l, struct agxc_instr *instr)
{
   struct agxc_value *value = instr->operand[0].value;
   uint32_t offset = (uint32_t)agxc_imm_of(instr, 0);
   bool is_half = value->bits == 16 && value->count == 1 && offset % 2 == 0;
   if (!is_half && (value->bits != 32 || offset % 4))
      agxc_fail(l->shader, AGX_UNIMPLEMENTED, "%s: push constant of %u bits at byte %u",
                l->shader->name, value->bits, offset);
   if (is_half) {
      struct agxc_ref word = agxc_uniform_slot(l->shader, AGX_UNIFORM_PUSH, offset & ~3u, 0, 32);
      l->replaced[value->id] = agxc_uniform(word.half + offset % 4 / 2, 16, 1);
      agxc_instr_remove(instr);
      return;
   }
   if (value->count == 1) {
      l->replaced[value->id] = agxc_uniform_slot(l->shader, AGX_UNIFORM_PUSH, offset, 0, 32);
      agxc_instr_remove(instr);
      return;
   }
   struct agxc_builder b = agxc_before(l->shader, instr);
   struct agxc_instr *collect = agxc_instr_new_n(l->shader, AGXC_OP_COLLECT, 1, value->count);
   collect->operand[0] = instr->operand[0];
   value->def = collect;
   for (unsigned i = 0; i < value->count; i++)
      collect->operand[1 + i] =
         agxc_uniform_slot(l->shader, AGX_UNIFORM_PUSH, offset + 4 * i, 0, 32);
   agxc_insert(&b, collect);
   agxc_instr_remove(instr);
}

static void replace_value(struct lowering *l, struct agxc_instr *instr, struct agxc_ref by)
{
   l->replaced[instr->operand[0].value->id] = by;
   agxc_instr_remove(instr);
}

static struct agxc_ref limit_of(struct agxc_shader *shader, const struct agxc_instr *instr)
{
   struct agx_program_access access = {.stride = (uint32_t)agxc_imm_of(instr, 2),
                                       .bytes = (uint32_t)agxc_imm_of(instr, 3)};
   return agxc_uniform_slot(shader, (enum agx_uniform_kind)agxc_imm_of(instr, 1),
                            (uint32_t)agxc_imm_of(instr, 0), agx_program_access_pack(access),
                            instr->operand[0].bits);
}

/* Positions that the workgroup's shape settles. */
static bool is_zero(const struct agxc_shader *shader, enum agxc_sysval sysval)
{
   const uint32_t *size = shader->local_size;
   if (shader->has_dynamic_local_size)
      return false;
   if (sysval >= AGXC_SYSVAL_LOCAL_ID && sysval < AGXC_SYSVAL_LOCAL_ID + 3)
      return size[sysval - AGXC_SYSVAL_LOCAL_ID] == 1;
   uint64_t threads = (uint64_t)size[0] * size[1] * size[2];
   return (sysval == AGXC_SYSVAL_SUBGROUP_ID && threads <= 32) ||
          (sysval == AGXC_SYSVAL_LOCAL_INDEX && threads == 1);
}

static void lower_instr(struct lowering *l, struct agxc_instr *instr)
{
   struct agxc_shader *shader = l->shader;
   struct agxc_builder b = agxc_before(shader, instr);
   int64_t which;
   switch (instr->op) {
   case AGXC_OP_LOAD_BUFFER:
      lower_load(&b, instr);
      return;
   case AGXC_OP_STORE_BUFFER:
      lower_store(&b, instr);
      return;
   case AGXC_OP_ATOMIC_BUFFER:
      lower_atomic(&b, instr);
      return;
   case AGXC_OP_BUFFER_SIZE:
      replace_value(l, instr, size_of(shader, agxc_imm_of(instr, 0)));
      return;
   case AGXC_OP_BUFFER_SINK: {
      struct agx_program_access access = {
         .constant = UINT32_MAX, .stride = 1, .bytes = 16, .writes = agxc_imm_of(instr, 1)};
      replace_value(l, instr,
                    agxc_uniform_slot(shader, AGX_UNIFORM_BUFFER_GUARD,
                                      (uint32_t)agxc_imm_of(instr, 0),
                                      agx_program_access_pack(access), 64));
      return;
   }
   case AGXC_OP_BUFFER_LIMIT:
      replace_value(l, instr, limit_of(shader, instr));
      return;
   case AGXC_OP_BUFFER_ADDRESS:
      replace_value(l, instr, address_of(shader, agxc_imm_of(instr, 0)));
      return;
   case AGXC_OP_IMAGE_INFO:
      replace_value(l, instr,
                    agxc_uniform_slot(shader, AGX_UNIFORM_IMAGE, (uint32_t)agxc_imm_of(instr, 0),
                                      (uint64_t)agxc_imm_of(instr, 1), instr->operand[0].bits));
      return;
   case AGXC_OP_HEAP_ADDRESS:
      replace_value(l, instr, heap_of(shader, instr));
      return;
   case AGXC_OP_LOAD_PUSH:
      lower_push(l, instr);
      return;
   case AGXC_OP_SYSVAL:
      if (is_zero(shader, (enum agxc_sysval)agxc_imm_of(instr, 0))) {
         replace_value(l, instr, agxc_imm(0, 32));
         return;
      }
      which = agxc_imm_of(instr, 0) - AGXC_SYSVAL_DRAW;
      if (which >= 0 && which < AGX_DRAW_VALUE_COUNT) {
         replace_value(l, instr,
                       agxc_uniform_slot(shader, AGX_UNIFORM_DRAW, (uint32_t)which, 0, 32));
         return;
      }
      which = agxc_imm_of(instr, 0) - AGXC_SYSVAL_LOCAL_SIZE;
      if (which >= 0 && which < 3) {
         replace_value(l, instr,
                       agxc_uniform_slot(shader, AGX_UNIFORM_LOCAL_SIZE, (uint32_t)which, 0, 32));
         return;
      }
      if (agxc_imm_of(instr, 0) == AGXC_SYSVAL_SHARED_END) {
         replace_value(l, instr, agxc_uniform_slot(shader, AGX_UNIFORM_SHARED_END, 0, 0, 32));
         return;
      }
      which = agxc_imm_of(instr, 0) - AGXC_SYSVAL_WORKGROUP_COUNT;
      if (which >= 0 && which < 3)
         replace_value(
            l, instr,
            agxc_uniform_slot(shader, AGX_UNIFORM_WORKGROUP_COUNT, (uint32_t)which, 0, 32));
      return;
   default:
      return;
   }
}

/* An address put together from neighbouring uniforms is one uniform; only bases can be. */
static void join_base(struct agxc_instr *instr)
{
   if (instr->op < AGXC_OP_LOAD_GLOBAL || instr->op > AGXC_OP_ATOMIC_GLOBAL)
      return;
   struct agxc_ref *base = &agxc_srcs(instr)[0];
   const struct agxc_instr *pack = agxc_def_of(*base);
   if (!pack || pack->op != AGXC_OP_PACK64)
      return;
   struct agxc_ref low = agxc_srcs(pack)[0], high = agxc_srcs(pack)[1];
   if (low.kind == AGXC_UNIFORM && high.kind == AGXC_UNIFORM && high.half == low.half + 2 &&
       low.half <= MAX_BASE_HALF)
      *base = agxc_uniform(low.half, 64, 1);
}

bool agxc_lower_buffer(struct agxc_shader *shader)
{
   struct lowering l = {.shader = shader};
   uint32_t value_count = shader->value_count;
   l.replaced = AGX_ARENA_ARRAY(shader->arena, struct agxc_ref, value_count);
   agxc_index(shader);
   /* Few registers can be the base of a heap: those first. */
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block)
         if (instr->op == AGXC_OP_HEAP_ADDRESS)
            (void)heap_of(shader, instr);
   agxc_foreach_block (block, shader)
      agxc_foreach_instr_safe (instr, block)
         lower_instr(&l, instr);
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block)
         agxc_foreach_src (src, instr)
            if (src->kind == AGXC_VALUE && src->value->id < value_count &&
                l.replaced[src->value->id].kind != AGXC_NONE)
               *src = l.replaced[src->value->id];
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block)
         join_base(instr);
   return true;
}
