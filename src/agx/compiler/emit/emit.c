/* SPDX-License-Identifier: MIT
 *
 * Machine instructions over registers to bytes. All jumps have one length, so that the first pass
 * knows every position and the second only fills in distances.
 *
 * agxc_compile() calls it behind the pipeline. Each instruction takes the shortest form that holds
 * its operands; eight traps follow stop.
 *
 *    before   r2l:32 = agx.ffma u1l:32, r2l:32, r3l:32, #0:64
 *    after    3a 89 82 41 24 46 02 00
 */
#include "agx/compiler/emit/jump_impl.h"
#include "agx/compiler/emit/emit.h"
#include "agx/compiler/emit/stats_impl.h"

/* Both known compilers put eight traps behind stop. Source: docs/hw/machine.md, 1. */
#define TRAPS 8

struct emission {
   struct agxc_shader *shader;
   uint8_t *bytes;
   uint32_t size;
   uint32_t *block_at; /* by block */
   struct jump {
      uint32_t at, target;
      uint32_t distance; /* the place of its operand */
   } * jumps;
   uint32_t jump_count;
   uint32_t line; /* of the last row */
   struct agxc_stats stats;
};

static struct agx_isa_operand to_operand(const struct agxc_ref *ref)
{
   struct agx_isa_operand operand = {
      .bits = ref->bits,
      .count = ref->count,
      .hint = ref->hint,
      .abs = ref->abs,
      .neg = ref->neg,
      .sx = ref->sx,
      .is_unsigned = ref->is_unsigned,
   };
   switch (ref->kind) {
   case AGXC_IMM:
      operand.kind = AGX_ISA_IMM;
      operand.value = ref->imm;
      break;
   case AGXC_FIMM:
      operand.kind = AGX_ISA_FIMM;
      operand.value = ref->imm;
      break;
   case AGXC_UNIFORM:
      operand.kind = AGX_ISA_UNIFORM;
      operand.value = ref->half;
      break;
   case AGXC_REG:
      operand.kind = AGX_ISA_REG;
      operand.value = ref->half;
      break;
   default:
      return (struct agx_isa_operand){0};
   }
   if (operand.kind == AGX_ISA_IMM || operand.kind == AGX_ISA_FIMM)
      operand.bits = operand.count = 0;
   return operand;
}

static void name_state(struct agx_isa_operand *operand, enum agx_isa_kind kind)
{
   if (operand->kind == AGX_ISA_IMM)
      operand->kind = kind;
}

/* What an operand of the IR's instruction has become. */
static struct agx_isa_operand *encoded(struct agx_isa_instr *isa, const struct agxc_instr *instr,
                                       const struct agxc_ref *operand)
{
   return &isa->operand[operand - instr->operand];
}

/* State registers are numbers in the IR. Of coordinates the table has only the first; how many
 * follow says the dimension. */
static void name_texture_operands(struct agx_isa_instr *isa, const struct agxc_instr *instr)
{
   bool samples = isa->op == AGX_ISA_OP_SMPF || isa->op == AGX_ISA_OP_SMPI;
   if (!samples && isa->op != AGX_ISA_OP_IMGW)
      return;
   name_state(encoded(isa, instr, agxc_machine_texture(instr)), AGX_ISA_TS);
   encoded(isa, instr, agxc_machine_coord(instr))->count = 1;
   if (!samples)
      return;
   name_state(encoded(isa, instr, agxc_machine_sampler(instr)), AGX_ISA_SS);
   /* Four registers change, but a mask may choose fewer results. */
   encoded(isa, instr, agxc_machine_r(instr))->count =
      (uint8_t)__builtin_popcount((unsigned)agxc_machine_mask(instr)->imm);
   struct agx_isa_operand *lod = encoded(isa, instr, agxc_machine_lod(instr));
   struct agx_isa_operand *extra = encoded(isa, instr, agxc_machine_extra(instr));
   if (lod->bits == 32) { /* derivatives; with a least level behind them they count in halves */
      bool has_least = agxc_machine_lod(instr)->count % 2;
      lod->bits = has_least ? 16 : 32;
      lod->count = has_least ? 5 : 2;
   }
   if (extra->count == 2) { /* reference and offset */
      extra->bits = 16;
      extra->count = 3;
   }
}

static struct agx_isa_instr to_isa(const struct agxc_instr *instr)
{
   struct agx_isa_instr isa = {.op = (uint16_t)agxc_opcode(instr)};
   for (unsigned i = 0; i < instr->operand_count; i++)
      isa.operand[i] = to_operand(&instr->operand[i]);
   name_texture_operands(&isa, instr);
   return isa;
}

static void append(struct emission *emission, const struct agx_isa_instr *isa)
{
   size_t length = 0;
   struct agxc_shader *shader = emission->shader;
   agx_status status = agx_isa_encode(isa, emission->bytes + emission->size, &length);
   if (status != AGX_OK) {
      agx_error_prefix("%s: emitting at 0x%x", shader->name, emission->size);
      agxc_leave(shader, AGX_INTERNAL);
   }
   emission->size += (uint32_t)length;
}

/* What has no line of its own counts to that of the code before. */
static void note_line(struct emission *emission, uint32_t line)
{
   struct agxc_shader *shader = emission->shader;
   if (line == 0 || line == emission->line)
      return;
   emission->line = line;
   shader->line_rows[shader->line_row_count++] = (struct agxc_line_row){emission->size, line};
}

static void emit_instr(struct emission *emission, const struct agxc_instr *instr)
{
   if (!agxc_is_machine(instr))
      agxc_fail(emission->shader, AGX_INTERNAL, "%s: %s reached the emitter",
                emission->shader->name, agxc_op_info(instr->op)->name);
   struct agx_isa_instr isa = to_isa(instr);
   const struct agxc_block *target = agxc_jump_target(emission->shader, instr);
   if (target) {
      struct agx_isa_operand *distance = encoded(&isa, instr, agxc_machine_offset(instr));
      emission->jumps[emission->jump_count++] =
         (struct jump){emission->size, target->index, (uint32_t)(distance - isa.operand)};
      distance->value = 0;
   }
   agxc_stats_count(&emission->stats, instr, &isa);
   note_line(emission, instr->line);
   append(emission, &isa);
}

static void resolve_jumps(struct emission *emission)
{
   for (uint32_t i = 0; i < emission->jump_count; i++) {
      const struct jump *jump = &emission->jumps[i];
      struct agx_isa_instr isa;
      size_t length;
      uint8_t *at = emission->bytes + jump->at;
      agx_status status = agx_isa_decode(at, emission->size - jump->at, &isa);
      isa.operand[jump->distance].value = (int64_t)emission->block_at[jump->target] - jump->at;
      if (status == AGX_OK)
         status = agx_isa_encode(&isa, at, &length);
      if (status != AGX_OK)
         agxc_leave(emission->shader, AGX_INTERNAL);
   }
}

void agxc_emit(struct agxc_shader *shader, uint8_t **out_code, uint32_t *out_text_B,
               uint32_t *out_code_B)
{
   agxc_index(shader);
   struct emission emission = {
      .shader = shader,
      .bytes = AGX_ARENA_ARRAY(shader->arena, uint8_t,
                               (shader->instr_count + 2ull) * AGX_ISA_MAX_BYTES + 2 * TRAPS),
      .block_at = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->block_count),
      .jumps = AGX_ARENA_ARRAY(shader->arena, struct jump, shader->instr_count),
   };
   if (shader->line_count)
      shader->line_rows =
         AGX_ARENA_ARRAY(shader->arena, struct agxc_line_row, shader->instr_count + 1ull);
   shader->line_row_count = 0;
   agxc_stats_begin(&emission.stats, shader);
   agxc_foreach_block (block, shader) {
      emission.block_at[block->index] = emission.size;
      agxc_foreach_instr (instr, block)
         emit_instr(&emission, instr);
   }
   struct agx_isa_instr stop = {.op = AGX_ISA_OP_STOP}, trap = {.op = AGX_ISA_OP_TRAP};
   agxc_stats_count(&emission.stats, NULL, &stop);
   append(&emission, &stop);
   *out_text_B = emission.size;
   for (unsigned i = 0; i < TRAPS; i++)
      append(&emission, &trap);
   resolve_jumps(&emission);
   agxc_stats_finish(&emission.stats, shader);
   *out_code = emission.bytes;
   *out_code_B = emission.size;
}
