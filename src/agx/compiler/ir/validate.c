/* SPDX-License-Identifier: MIT
 *
 * The rules that hold between passes: shapes of operands, one definition for each value that
 * dominates its uses, phis that match their block, and what may stand at each stage.
 */
#include "agx/compiler/ir/dominance.h"
#include "agx/compiler/ir/machine_operand.h"

#include <inttypes.h>

struct validator {
   const struct agxc_shader *shader;
   enum agxc_stage stage;
   const struct agxc_dominance *dominance;
   const struct agxc_instr **defs;
   const struct agxc_block *block;
   const struct agxc_instr *instr;
};

#define BROKEN(v, ...)                                                                             \
   (agx_status_fail(AGX_INTERNAL, __VA_ARGS__),                                                    \
    agx_error_prefix("block %u, instruction %u (%s)", (v)->block->index, (v)->instr->index,        \
                     agxc_name_of((v)->instr)),                                                    \
    AGX_INTERNAL)

static agx_status check_stage(const struct validator *v)
{
   const struct agxc_instr *instr = v->instr;
   bool jumps =
      instr->op == AGXC_OP_BREAK || instr->op == AGXC_OP_CONTINUE || instr->op == AGXC_OP_RETURN;
   bool stays = jumps || instr->op == AGXC_OP_MOV || instr->op == AGXC_OP_PHI ||
                instr->op == AGXC_OP_COLLECT || instr->op == AGXC_OP_SPLIT;
   if (v->stage == AGXC_STAGE_GENERIC && agxc_is_machine(instr))
      return BROKEN(v, "a machine instruction before selection");
   if (v->stage == AGXC_STAGE_MACHINE && !agxc_is_machine(instr) && !stays)
      return BROKEN(v, "a generic operation after selection");
   if ((instr->op == AGXC_OP_BREAK || instr->op == AGXC_OP_CONTINUE) && !v->block->loop)
      return BROKEN(v, "outside of a loop");
   if (v->stage == AGXC_STAGE_JUMPS && !agxc_is_machine(instr) && jumps)
      return BROKEN(v, "a structured jump after lower_control");
   if (v->stage >= AGXC_STAGE_REGISTERS && !agxc_is_machine(instr) && !jumps)
      return BROKEN(v, "a generic operation after register allocation");
   return AGX_OK;
}

/* Numbers that passes look up in tables, or count with. */
static agx_status check_imms(const struct validator *v)
{
   static const struct {
      enum agxc_imm_name name;
      uint32_t end;
      const char *word;
   } imms[] = {
      {AGXC_IMM_BINDING, AGX_PROGRAM_MAX_BINDINGS, "binding"},
      {AGXC_IMM_SHUFFLE, AGXC_SHUFFLE_QUAD + 1, "shuffle"},
      {AGXC_IMM_LANES, 32 + 1, "lanes"},
      {AGXC_IMM_SYSVAL, AGXC_SYSVAL_COUNT, "sysval"},
   };
   for (size_t i = 0; i < AGX_COUNT(imms); i++) {
      if (!agxc_has_imm(v->instr, imms[i].name))
         continue;
      uint64_t number = (uint64_t)agxc_imm_by_name(v->instr, imms[i].name)->imm;
      if (number >= imms[i].end)
         return BROKEN(v, "%s %" PRIu64, imms[i].word, number);
   }
   return AGX_OK;
}

static agx_status check_machine_shape(const struct validator *v)
{
   const struct agxc_instr *instr = v->instr;
   enum agx_isa_op opcode = agxc_opcode(instr);
   if (instr->operand_count != agx_isa_info(opcode)->operand_count)
      return BROKEN(v, "%u operands", instr->operand_count);
   if (agxc_opcode_has(opcode, AGXC_MACHINE_GROUP) &&
       (uint64_t)agxc_machine_group(instr)->imm >= AGXC_WAIT_GROUPS)
      return BROKEN(v, "group %" PRIi64, agxc_machine_group(instr)->imm);
   return AGX_OK;
}

static agx_status check_shape(const struct validator *v)
{
   const struct agxc_instr *instr = v->instr;
   if (agxc_is_machine(instr))
      return check_machine_shape(v);
   const struct agxc_op_info *info = agxc_op_info(instr->op);
   if ((info->dests >= 0 && instr->dest_count != info->dests) ||
       (info->srcs >= 0 && instr->src_count != info->srcs) ||
       instr->operand_count != instr->dest_count + instr->src_count + info->imms)
      return BROKEN(v, "%u destinations, %u sources, %u operands", instr->dest_count,
                    instr->src_count, instr->operand_count);
   AGX_TRY(check_imms(v));
   if (instr->op == AGXC_OP_ELEMENT &&
       (agxc_src_stride(instr)->kind != AGXC_IMM || agxc_src_stride(instr)->imm == 0))
      return BROKEN(v, "a stride that is no number above 0");
   if (instr->op == AGXC_OP_PHI && instr->src_count != v->block->pred_count)
      return BROKEN(v, "%u sources in a block with %u predecessors", instr->src_count,
                    v->block->pred_count);
   if (instr->op == AGXC_OP_PHI && instr->link.prev != &v->block->instrs &&
       agx_container_of(instr->link.prev, struct agxc_instr, link)->op != AGXC_OP_PHI)
      return BROKEN(v, "a phi behind another operation");
   return AGX_OK;
}

/* Passes behind lower_control look jumps' targets up. */
static agx_status check_jump(const struct validator *v)
{
   bool is_jump = agxc_has_opcode(v->instr, AGX_ISA_OP_JMP_ANY) ||
                  agxc_has_opcode(v->instr, AGX_ISA_OP_JMP_NONE);
   if (is_jump && v->stage != AGXC_STAGE_JUMPS)
      return BROKEN(v, "a jump before lower_control");
   if (is_jump && (uint64_t)agxc_machine_offset(v->instr)->imm >= v->shader->block_count)
      return BROKEN(v, "a jump to a block that there is not");
   return AGX_OK;
}

/* Machine code and the sets of the passes have 256 halves of registers and 512 of uniforms. */
static agx_status check_place(const struct validator *v, const struct agxc_ref *ref)
{
   bool is_register = ref->kind == AGXC_REG;
   uint32_t last = ref->half + (uint32_t)AGX_MAX(ref->bits, 16) * AGX_MAX(ref->count, 1) / 16 - 1;
   if ((is_register && last >= 256) || (ref->kind == AGXC_UNIFORM && last >= 512))
      return BROKEN(v, "half %u of %s", last, is_register ? "256 of registers" : "512 of uniforms");
   return AGX_OK;
}

static agx_status check_dest(struct validator *v, const struct agxc_ref *dest)
{
   bool registers = v->stage >= AGXC_STAGE_REGISTERS;
   if (dest->kind == AGXC_NONE)
      return AGX_OK; /* an atomic whose result nothing wants */
   if (dest->kind == AGXC_UNIFORM && agxc_has_opcode(v->instr, AGX_ISA_OP_UNIFORM_STORE))
      return v->shader->main ? AGX_OK : BROKEN(v, "only a preamble stores uniforms");
   if (dest->kind != (registers ? AGXC_REG : AGXC_VALUE))
      return BROKEN(v, "destination of kind %u", dest->kind);
   if (registers)
      return check_place(v, dest);
   if (dest->value->def != v->instr)
      return BROKEN(v, "value %u does not name it as its definition", dest->value->id);
   if (v->defs[dest->value->id])
      return BROKEN(v, "value %u has a second definition", dest->value->id);
   v->defs[dest->value->id] = v->instr;
   return AGX_OK;
}

/* ---- dominance -------------------------------------------------------- */

static bool is_unreached(const struct agxc_block *block)
{
   return block->index != 0 && block->pred_count == 0;
}

static bool dominates_use(const struct validator *v, const struct agxc_instr *def,
                          const struct agxc_block *block, uint32_t index)
{
   if (def->block == block)
      return def->index < index;
   return agxc_dominates(v->dominance, def->block->index, block->index);
}

/* A phi's source is used at the end of its predecessor. */
static bool reaches(const struct validator *v, const struct agxc_instr *def, unsigned source)
{
   if (v->instr->op == AGXC_OP_PHI)
      return dominates_use(v, def, v->block->preds[source], UINT32_MAX);
   return dominates_use(v, def, v->block, v->instr->index);
}

/* ---- rules ------------------------------------------------------------ */

static agx_status check_generic_src(const struct validator *v, const struct agxc_ref *src)
{
   unsigned source = (unsigned)(src - agxc_srcs(v->instr));
   bool may_lack = v->instr->op == AGXC_OP_PHI
                      ? v->stage >= AGXC_STAGE_MACHINE /* anything comes from there */
                      : source < 8 && agxc_op_info(v->instr->op)->optional_sources >> source & 1;
   if (src->kind == AGXC_NONE ? !may_lack : src->bits == 0 || src->count == 0)
      return BROKEN(v, "source %u is nothing", source);
   return AGX_OK;
}

static agx_status check_src(const struct validator *v, const struct agxc_ref *src)
{
   AGX_TRY(check_place(v, src));
   if (!agxc_is_machine(v->instr))
      AGX_TRY(check_generic_src(v, src));
   if (v->stage >= AGXC_STAGE_REGISTERS && src->kind == AGXC_VALUE)
      return BROKEN(v, "value %u after register allocation", src->value->id);
   if (v->stage == AGXC_STAGE_GENERIC && src->kind == AGXC_REG)
      return BROKEN(v, "a register before selection");
   if (src->kind != AGXC_VALUE)
      return AGX_OK;
   if (src->value->id >= v->shader->value_count || v->shader->values[src->value->id] != src->value)
      return BROKEN(v, "a value that is not the shader's");
   const struct agxc_instr *def = src->value->def;
   unsigned source = (unsigned)(src - agxc_srcs(v->instr));
   if (!def || !def->block || (!is_unreached(v->block) && !reaches(v, def, source)))
      return BROKEN(v, "value %u is not defined on every way here", src->value->id);
   return AGX_OK;
}

static agx_status check_instr(struct validator *v)
{
   AGX_TRY(check_stage(v));
   AGX_TRY(check_shape(v));
   AGX_TRY(check_jump(v));
   agxc_foreach_src (src, v->instr)
      AGX_TRY(check_src(v, src));
   agxc_foreach_dest (dest, v->instr)
      AGX_TRY(check_dest(v, dest));
   bool is_last = v->instr->link.next == &v->block->instrs;
   if (agxc_flags(v->instr) & AGXC_TERMINATOR && !is_last && v->stage != AGXC_STAGE_JUMPS)
      return BROKEN(v, "a terminator inside its block");
   return AGX_OK;
}

static agx_status check_list(struct validator *v, const struct agx_link *list);

static agx_status check_node(struct validator *v, const struct agxc_node *node)
{
   if (node->kind != AGXC_NODE_BLOCK) {
      agxc_foreach_list (list, node)
         AGX_TRY(check_list(v, list));
      return AGX_OK;
   }
   v->block = agxc_as_block(node);
   agxc_foreach_instr (instr, v->block) {
      v->instr = instr;
      AGX_TRY(check_instr(v));
   }
   return AGX_OK;
}

/* The block before an if ends with its condition. lower_control puts a jump behind it. */
static agx_status check_condition(const struct validator *v, const struct agxc_node *node)
{
   const struct agxc_instr *last = agxc_terminator(agxc_block_before(node));
   bool is_condition =
      last && (last->op == AGXC_OP_BRANCH || agxc_has_opcode(last, AGX_ISA_OP_IF_ICMP) ||
               agxc_has_opcode(last, AGX_ISA_OP_IF_FCMP));
   if (node->kind != AGXC_NODE_IF || is_condition)
      return AGX_OK;
   return AGX_FAIL(AGX_INTERNAL, "control flow: an if without a condition");
}

static agx_status check_list(struct validator *v, const struct agx_link *list)
{
   bool expects_block = true;
   agxc_foreach_node (node, list) {
      if ((node->kind == AGXC_NODE_BLOCK) != expects_block)
         return AGX_FAIL(AGX_INTERNAL, "control flow: blocks and nodes don't alternate");
      expects_block = !expects_block;
      if (node->kind != AGXC_NODE_BLOCK && v->stage != AGXC_STAGE_JUMPS)
         AGX_TRY(check_condition(v, node));
      AGX_TRY(check_node(v, node));
   }
   if (expects_block)
      return AGX_FAIL(AGX_INTERNAL, "control flow: a list that does not end with a block");
   return AGX_OK;
}

agx_status agxc_validate(const struct agxc_shader *shader, enum agxc_stage stage)
{
   struct agxc_shader *indexed = (struct agxc_shader *)shader;
   agxc_index(indexed);
   struct validator v = {.shader = shader, .stage = stage};
   v.dominance = agxc_dominance_compute(indexed);
   v.defs = AGX_ARENA_ARRAY(shader->arena, const struct agxc_instr *, shader->value_count);
   return check_list(&v, &shader->body);
}
