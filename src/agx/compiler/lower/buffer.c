/* SPDX-License-Identifier: MIT
 *
 * Buffers by binding become memory by address: the address of a binding is a 64-bit uniform, its
 * size a 32-bit one; push constants and the grid's size are uniforms themselves.
 *
 *    before   %2 = load_buffer %0; #1, access        %3 = load_push; #4
 *    after    %2 = load_global u0:64, %0; access     %3 is u8:32
 *
 * The pass stands at the front of the pipeline, so that all others know one kind of access to
 * device memory and see what the driver knows as uniforms. agxc_lower_robust checks the accesses of
 * robust bindings later.
 */
#include "agx/compiler/analysis/range.h"
#include "agx/compiler/lower/lower.h"
#include "agx/compiler/ir/launch_slots.h"

#define MAX_BASE_HALF  252 /* a base names halves below 256 */
#define MAX_PUSH_WORDS 4

struct lowering {
   struct agxc_shader *shader;
   struct agxc_ref *replaced; /* by value id: the uniform to use instead; kind NONE if none */
};

static struct agxc_ref slot(struct agxc_shader *shader, enum agx_uniform_kind kind, uint32_t index)
{
   return agxc_uniform_slot(shader, kind, index, 0, 32);
}

static struct agxc_ref address_of(struct agxc_shader *shader, struct agxc_instr *instr)
{
   return agxc_uniform_slot(shader, AGX_UNIFORM_BUFFER_ADDRESS, agxc_imm_binding(instr), 0, 64);
}

/* ---- accesses --------------------------------------------------------- */

static const struct {
   uint16_t op, by_address;
} accesses[] = {
   {AGXC_OP_LOAD_BUFFER, AGXC_OP_LOAD_GLOBAL},
   {AGXC_OP_STORE_BUFFER, AGXC_OP_STORE_GLOBAL},
   {AGXC_OP_ATOMIC_BUFFER, AGXC_OP_ATOMIC_GLOBAL},
};

/* The operands that both have, and the binding's address. */
static void lower_access(struct agxc_shader *shader, struct agxc_instr *instr, enum agxc_op op)
{
   struct agxc_builder b = agxc_before(shader, instr);
   struct agxc_instr *access = agxc_instr_new(shader, op);
   for (unsigned i = 0; i < AGXC_SRC_NAMES; i++)
      if (agxc_has_src(instr, i))
         *agxc_src_by_name(access, i) = *agxc_src_by_name(instr, i);
   for (unsigned i = 0; i < AGXC_IMM_NAMES; i++)
      if (agxc_has_imm(access, i))
         *agxc_imm_by_name(access, i) = *agxc_imm_by_name(instr, i);
   *agxc_src_address(access) = address_of(shader, instr);
   if (instr->dest_count)
      agxc_define(access, *agxc_dest(instr));
   agxc_insert(&b, access);
   agxc_instr_remove(instr);
}

/* ---- values that are uniforms ----------------------------------------- */

/* A vector of push constants is replaced where it is split. */
static struct agxc_ref push_of(struct agxc_shader *shader, struct agxc_instr *instr)
{
   struct agxc_ref dest = *agxc_dest(instr), words[MAX_PUSH_WORDS];
   uint32_t offset = agxc_imm_offset(instr);
   agx_assert(dest.count <= MAX_PUSH_WORDS);
   bool is_half = dest.bits == 16 && dest.count == 1 && offset % 2 == 0;
   if (!is_half && (dest.bits != 32 || offset % 4))
      agxc_fail(shader, AGX_UNIMPLEMENTED, "%s: push constant of %u bits at byte %u", shader->name,
                dest.bits, offset);
   for (unsigned i = 0; i < dest.count; i++)
      words[i] = slot(shader, AGX_UNIFORM_PUSH, (offset & ~3u) + 4 * i);
   if (is_half)
      return agxc_uniform(words[0].half + offset % 4 / 2, 16, 1);
   if (dest.count == 1)
      return words[0];
   struct agxc_builder b = agxc_before(shader, instr);
   agxc_redefine(&b, dest, words);
   agxc_instr_remove(instr);
   return agxc_none();
}

static struct agxc_ref size_of(struct agxc_shader *shader, struct agxc_instr *instr)
{
   return slot(shader, AGX_UNIFORM_BUFFER_SIZE, agxc_imm_binding(instr));
}

static struct agxc_ref sink_of(struct agxc_shader *shader, struct agxc_instr *instr)
{
   struct agx_program_access access = {
      .constant = UINT32_MAX, .stride = 1, .bytes = 16, .writes = agxc_imm_writes(instr)};
   return agxc_uniform_slot(shader, AGX_UNIFORM_BUFFER_GUARD, agxc_imm_binding(instr),
                            agx_program_access_pack(access), 64);
}

static struct agxc_ref limit_of(struct agxc_shader *shader, struct agxc_instr *instr)
{
   struct agx_program_access access = {.stride = agxc_imm_stride(instr),
                                       .bytes = agxc_imm_bytes(instr)};
   return agxc_uniform_slot(shader, agxc_imm_limit(instr), agxc_imm_binding(instr),
                            agx_program_access_pack(access), agxc_dest(instr)->bits);
}

static struct agxc_ref image_of(struct agxc_shader *shader, struct agxc_instr *instr)
{
   return agxc_uniform_slot(shader, AGX_UNIFORM_IMAGE, agxc_imm_binding(instr),
                            agxc_imm_property(instr), agxc_dest(instr)->bits);
}

static struct agxc_ref heap_of(struct agxc_shader *shader, struct agxc_instr *instr)
{
   return agxc_uniform_slot(shader, AGX_UNIFORM_HEAP, agxc_imm_binding(instr), agxc_imm_part(instr),
                            64);
}

/* System values that the driver knows, and their uniforms; one slot for each component. */
static const struct {
   uint16_t first, count, kind;
} sysvals[] = {
   {AGXC_SYSVAL_DRAW, AGX_DRAW_VALUE_COUNT, AGX_UNIFORM_DRAW},
   {AGXC_SYSVAL_LOCAL_SIZE, 3, AGX_UNIFORM_LOCAL_SIZE},
   {AGXC_SYSVAL_SHARED_END, 1, AGX_UNIFORM_SHARED_END},
   {AGXC_SYSVAL_WORKGROUP_COUNT, 3, AGX_UNIFORM_WORKGROUP_COUNT},
};

static struct agxc_ref sysval_of(struct agxc_shader *shader, struct agxc_instr *instr)
{
   uint32_t sysval = agxc_imm_sysval(instr);
   if (agxc_range_of_op(shader, instr).max == 0)
      return agxc_u32(0);
   for (size_t i = 0; i < AGX_COUNT(sysvals); i++)
      if (sysval >= sysvals[i].first && sysval - sysvals[i].first < sysvals[i].count)
         return slot(shader, (enum agx_uniform_kind)sysvals[i].kind, sysval - sysvals[i].first);
   return agxc_none(); /* of a register */
}

/* What stands for an operation's result; AGXC_NONE: nothing, the function has replaced it itself if
 * need be. */
static const struct {
   uint16_t op;
   struct agxc_ref (*find)(struct agxc_shader *shader, struct agxc_instr *instr);
} values[] = {
   {AGXC_OP_BUFFER_SIZE, size_of},   {AGXC_OP_BUFFER_SINK, sink_of},
   {AGXC_OP_BUFFER_LIMIT, limit_of}, {AGXC_OP_BUFFER_ADDRESS, address_of},
   {AGXC_OP_IMAGE_INFO, image_of},   {AGXC_OP_HEAP_ADDRESS, heap_of},
   {AGXC_OP_LOAD_PUSH, push_of},     {AGXC_OP_SYSVAL, sysval_of},
};

/* ---- the walk --------------------------------------------------------- */

static void lower_instr(struct lowering *l, struct agxc_instr *instr)
{
   for (size_t i = 0; i < AGX_COUNT(accesses); i++)
      if (accesses[i].op == instr->op) {
         lower_access(l->shader, instr, (enum agxc_op)accesses[i].by_address);
         return;
      }
   for (size_t i = 0; i < AGX_COUNT(values); i++) {
      if (values[i].op != instr->op)
         continue;
      struct agxc_ref value = values[i].find(l->shader, instr);
      if (value.kind == AGXC_NONE)
         return;
      l->replaced[agxc_dest(instr)->value->id] = value;
      agxc_instr_remove(instr);
      return;
   }
}

/* An address put together from neighbouring uniforms is one uniform; only bases can be. */
static void join_base(struct agxc_instr *instr)
{
   if (instr->op < AGXC_OP_LOAD_GLOBAL || instr->op > AGXC_OP_ATOMIC_GLOBAL)
      return;
   struct agxc_ref *base = agxc_src_address(instr);
   const struct agxc_instr *pack = agxc_def_as(*base, AGXC_OP_PACK64);
   if (!pack)
      return;
   struct agxc_ref low = *agxc_src_low(pack), high = *agxc_src_high(pack);
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
   agxc_foreach_instr_of (instr, shader)
      if (instr->op == AGXC_OP_HEAP_ADDRESS &&
          agx_heap_part_is_hardware((uint32_t)agxc_imm_part(instr)))
         (void)heap_of(shader, instr);
   agxc_foreach_instr_of_safe (instr, shader)
      lower_instr(&l, instr);
   agxc_foreach_instr_of (instr, shader)
      agxc_foreach_src (src, instr)
         if (src->kind == AGXC_VALUE && src->value->id < value_count &&
             l.replaced[src->value->id].kind != AGXC_NONE)
            *src = l.replaced[src->value->id];
   agxc_foreach_instr_of (instr, shader)
      join_base(instr);
   return true;
}
