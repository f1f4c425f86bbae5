/* SPDX-License-Identifier: MIT
 *
 * The walk over a module's words: capabilities, decorations, entry point, types, constants and
 * variables, each checked and kept. What it makes of a function is a list of blocks with the words
 * of their merge instruction and terminator; flow.c reads the rest when it emits them. name.def
 * says which capabilities and decorations are taken. frontend.c calls it once for a module.
 */
#include "agx/compiler/spirv/module_impl.h"
#include "agx/compiler/spirv/vertex_impl.h"

/* Newer than some headers. Source: the SPIR-V registry. */
#define MODE_MAXIMALLY_RECONVERGES  6023
#define MODE_FAST_MATH_DEFAULT      6028
#define CAPABILITY_FLOAT_CONTROLS_2 6029

/* Where the walk stands. */
struct walk {
   struct agxc_spv *s;
   struct agxc_spv_function *function;
   struct agxc_spv_block *block;
   uint32_t merge;    /* word of a merge instruction that waits for its terminator */
   uint32_t line;     /* that one in front of a block names, in s->lines, or 0 */
   bool blocks_begun; /* no more parameters */
   bool past_phis;    /* in block */
   bool has_model;
};

/* ---- module-level instructions ----------------------------------------- */

#define ATOMICS "the hardware's atomics have 32 bits and make no wider ones without a lock"

/* Why no module can have what other drivers offer. */
static const struct {
   uint32_t capability;
   const char *reason;
} impossible[] = {
   {SpvCapabilityInt64Atomics, ATOMICS},
   {SpvCapabilityInt64ImageEXT, ATOMICS},
   {SpvCapabilityAtomicFloat64MinMaxEXT, ATOMICS},
   {SpvCapabilityAtomicFloat64AddEXT, ATOMICS},
   {SpvCapabilityShaderClockKHR, "no clock is known that a kernel could read"},
};

static void refuse_capability(struct walk *w, uint32_t capability)
{
   const char *name = agxc_spv_name(AGXC_SPV_NAME_CAPABILITY, capability);
   for (size_t i = 0; i < AGX_COUNT(impossible); i++)
      if (impossible[i].capability == capability)
         agxc_spv_missing(
            w->s, "capability %s (%u) is not supported, since %s: compile without what needs it",
            name, capability, impossible[i].reason);
   agxc_spv_missing(w->s, "capability %s (%u) is not supported: compile without what needs it",
                    name, capability);
}

static void read_capability(struct walk *w, const struct agxc_spv_instr *in)
{
   uint32_t capability = agxc_spv_operand(w->s, in, 0);
   w->s->has_fast_math |= capability == CAPABILITY_FLOAT_CONTROLS_2;
   /* Where there are others, one of them may need it; what this one lacks has a name of its own. */
   if (w->s->entry_points > 1)
      return;
   if (!agxc_spv_takes(w->s, AGXC_SPV_NAME_CAPABILITY, capability))
      refuse_capability(w, capability);
}

static void read_import(struct walk *w, const struct agxc_spv_instr *in)
{
   char name[64];
   if (!agxc_spv_string(in, 0, name, sizeof(name)))
      agxc_spv_invalid(w->s, "string without end");
   bool is_glsl = strcmp(name, "GLSL.std.450") == 0;
   if (!is_glsl && strncmp(name, "NonSemantic.", 12) != 0)
      agxc_spv_missing(w->s, "extended instruction set %s is not supported: use GLSL.std.450",
                       name);
   struct agxc_spv_id *id = agxc_spv_result(w->s, in);
   id->kind = AGXC_SPV_ID_IMPORT;
   id->instance = is_glsl;
   /* Versions from 100 on add to it. */
   if (strncmp(name, "NonSemantic.Shader.DebugInfo.", 29) == 0)
      w->s->debug_import = in->id;
}

static void read_memory_model(struct walk *w, const struct agxc_spv_instr *in)
{
   uint32_t addressing = agxc_spv_operand(w->s, in, 0), memory = agxc_spv_operand(w->s, in, 1);
   if (addressing != SpvAddressingModelLogical &&
       addressing != SpvAddressingModelPhysicalStorageBuffer64)
      agxc_spv_missing(w->s,
                       "addressing model %s (%u) is not supported: declare Logical or "
                       "PhysicalStorageBuffer64",
                       addressing == SpvAddressingModelPhysical32   ? "Physical32"
                       : addressing == SpvAddressingModelPhysical64 ? "Physical64"
                                                                    : "?",
                       addressing);
   /* Simple promises less than GLSL450: nothing between threads. */
   if (memory != SpvMemoryModelSimple && memory != SpvMemoryModelGLSL450 &&
       memory != SpvMemoryModelVulkan)
      agxc_spv_missing(w->s, "memory model OpenCL (%u): declare GLSL450, Vulkan or Simple", memory);
   w->s->shader->takes_addresses = addressing == SpvAddressingModelPhysicalStorageBuffer64;
   w->has_model = true;
}

static void read_mode(struct walk *w, const struct agxc_spv_instr *in)
{
   struct agxc_spv *s = w->s;
   uint32_t mode = agxc_spv_operand(s, in, 1);
   if (agxc_spv_operand(s, in, 0) != s->entry_function)
      return;
   if (mode == MODE_FAST_MATH_DEFAULT)
      return; /* only permits */
   if (agxc_spv_is_float_mode(mode)) {
      agxc_spv_read_float_mode(s, in);
      return;
   }
   if (mode == MODE_MAXIMALLY_RECONVERGES || mode == SpvExecutionModeSubgroupUniformControlFlowKHR)
      return; /* structure is followed: lanes meet where a construct ends */
   if (mode == SpvExecutionModeXfb && s->shader->is_vertex)
      return; /* outputs are captured anyway */
   if (!s->shader->is_vertex && (mode == SpvExecutionModeDerivativeGroupQuadsNV ||
                                 mode == SpvExecutionModeDerivativeGroupLinearNV)) {
      agxc_spv_read_quad_mode(s, mode);
      return;
   }
   if (mode == SpvExecutionModeSubgroupSize) {
      uint32_t size = agxc_spv_operand(s, in, 2);
      if (size != AGX_SIMD_LANES)
         agxc_spv_missing(s, "execution mode SubgroupSize %u: subgroups have %u invocations", size,
                          AGX_SIMD_LANES);
      return;
   }
   if ((mode != SpvExecutionModeLocalSize || s->shader->is_vertex) &&
       mode != SpvExecutionModeLocalSizeId)
      agxc_spv_missing(s, "execution mode %s (%u) is not supported: leave it out",
                       agxc_spv_name(AGXC_SPV_NAME_MODE, mode), mode);
   for (unsigned i = 0; i < 3; i++)
      s->size_ids[i] = agxc_spv_operand(s, in, 2 + i);
   s->size_is_ids = mode == SpvExecutionModeLocalSizeId;
   s->has_size = true;
}

static void decorate(struct agxc_spv *s, uint32_t target, struct agxc_spv_decoration d)
{
   struct agxc_spv_id *id = agxc_spv_id(s, target);
   d.next = id->decorations;
   id->decorations = AGX_ARENA_NEW(s->arena, struct agxc_spv_decoration);
   *id->decorations = d;
   if (d.member == AGXC_SPV_NO_MEMBER && d.kind == SpvDecorationBuiltIn &&
       d.value == SpvBuiltInWorkgroupSize)
      s->workgroup_size_id = target;
}

static void read_decoration(struct walk *w, const struct agxc_spv_instr *in)
{
   struct agxc_spv *s = w->s;
   bool of_member = in->opcode == SpvOpMemberDecorate;
   uint32_t target = agxc_spv_operand(s, in, 0);
   struct agxc_spv_decoration d = {
      .member = of_member ? agxc_spv_operand(s, in, 1) : AGXC_SPV_NO_MEMBER,
      .kind = agxc_spv_operand(s, in, 1 + of_member),
   };
   bool is_taken = agxc_spv_takes(s, AGXC_SPV_NAME_DECORATION, d.kind);
   if (!is_taken && target < s->bound && !s->reached[target])
      return;
   if (!is_taken)
      agxc_spv_missing(s, "decoration %s (%u) is not supported here: leave it out",
                       agxc_spv_name(AGXC_SPV_NAME_DECORATION, d.kind), d.kind);
   if (agxc_spv_operand_count(in) > 2u + of_member)
      d.value = agxc_spv_operand(s, in, 2 + of_member);
   s->any_coherent |= d.kind == SpvDecorationCoherent || d.kind == SpvDecorationVolatile;
   decorate(s, target, d);
}

static void read_group(struct walk *w, const struct agxc_spv_instr *in)
{
   agxc_spv_result(w->s, in)->kind = AGXC_SPV_ID_OTHER;
}

/* What the group was decorated with, which comes before, goes to each target or its member. */
static void read_group_decoration(struct walk *w, const struct agxc_spv_instr *in)
{
   struct agxc_spv *s = w->s;
   bool of_members = in->opcode == SpvOpGroupMemberDecorate;
   uint32_t group = agxc_spv_operand(s, in, 0), step = of_members ? 2 : 1;
   const struct agxc_spv_decoration *first = agxc_spv_id(s, group)->decorations;
   for (uint32_t i = 1; i < agxc_spv_operand_count(in); i += step) {
      uint32_t target = agxc_spv_operand(s, in, i);
      if (target == group)
         agxc_spv_invalid(s, "group %u decorates itself", group);
      for (const struct agxc_spv_decoration *d = first; d; d = d->next) {
         struct agxc_spv_decoration copy = *d;
         if (of_members)
            copy.member = agxc_spv_operand(s, in, i + 1);
         decorate(s, target, copy);
      }
   }
}

static void read_non_semantic(struct walk *w, const struct agxc_spv_instr *in)
{
   struct agxc_spv *s = w->s;
   struct agxc_spv_id *set = agxc_spv_id(s, agxc_spv_operand(s, in, 0));
   if (set->kind != AGXC_SPV_ID_IMPORT || set->instance)
      agxc_spv_invalid(s, "outside functions");
   agxc_spv_result(s, in)->kind = AGXC_SPV_ID_OTHER;
}

static const struct {
   uint16_t first, last; /* opcodes */
   void (*read)(struct walk *w, const struct agxc_spv_instr *in);
   void (*make)(struct agxc_spv *s, const struct agxc_spv_instr *in);
} module_rows[] = {
   {SpvOpCapability, SpvOpCapability, read_capability, NULL},
   {SpvOpExtension, SpvOpExtension, NULL, NULL},
   {SpvOpExtInstImport, SpvOpExtInstImport, read_import, NULL},
   {SpvOpExtInst, SpvOpExtInst, read_non_semantic, NULL},
   {SpvOpMemoryModel, SpvOpMemoryModel, read_memory_model, NULL},
   {SpvOpEntryPoint, SpvOpEntryPoint, NULL, NULL}, /* reach.c reads them */
   {SpvOpExecutionMode, SpvOpExecutionMode, read_mode, NULL},
   {SpvOpExecutionModeId, SpvOpExecutionModeId, read_mode, NULL},
   {SpvOpDecorate, SpvOpMemberDecorate, read_decoration, NULL},
   {SpvOpDecorationGroup, SpvOpDecorationGroup, read_group, NULL},
   {SpvOpGroupDecorate, SpvOpGroupMemberDecorate, read_group_decoration, NULL},
   {SpvOpDecorateId, SpvOpDecorateId, read_decoration, NULL},
   {SpvOpTypeVoid, SpvOpTypeFunction, NULL, agxc_spv_read_type},
   {SpvOpTypeForwardPointer, SpvOpTypeForwardPointer, NULL, agxc_spv_read_forward_pointer},
   {SpvOpTypeCooperativeMatrixKHR, SpvOpTypeCooperativeMatrixKHR, NULL, agxc_spv_read_type},
   {SpvOpConstantTrue, SpvOpSpecConstantOp, NULL, agxc_spv_read_constant},
   {SpvOpConstantCompositeReplicateEXT, SpvOpSpecConstantCompositeReplicateEXT, NULL,
    agxc_spv_read_constant},
   {SpvOpUndef, SpvOpUndef, NULL, agxc_spv_read_constant},
   {SpvOpVariable, SpvOpVariable, NULL, agxc_spv_read_variable},
};

/* ---- functions --------------------------------------------------------- */

static void begin_function(struct walk *w, const struct agxc_spv_instr *in)
{
   struct agxc_spv *s = w->s;
   agxc_spv_mark_dynamic_size(s);
   struct agxc_spv_type *returns = agxc_spv_type_of(s, in->type_id);
   struct agxc_spv_type *type = agxc_spv_type_of(s, agxc_spv_operand(s, in, 1));
   if (type->kind != AGXC_SPV_FUNCTION || type->elem != returns)
      agxc_spv_invalid(s, "type %u does not fit", type->id);
   struct agxc_spv_function *function = AGX_ARENA_NEW(s->arena, struct agxc_spv_function);
   *function =
      (struct agxc_spv_function){.id = in->id, .word = in->at, .type = type, .returns = returns};
   function->params = AGX_ARENA_ARRAY(s->arena, uint32_t, AGX_MAX(type->count, 1u));
   struct agxc_spv_id *id = agxc_spv_result(s, in);
   id->kind = AGXC_SPV_ID_FUNCTION;
   id->function = function;
   w->function = function;
   w->block = NULL;
   w->blocks_begun = false;
}

static void read_parameter(struct walk *w, const struct agxc_spv_instr *in)
{
   struct agxc_spv_function *function = w->function;
   if (w->blocks_begun || function->param_count >= function->type->count)
      agxc_spv_invalid(w->s, "parameter %u of %u", function->param_count, function->type->count);
   if (agxc_spv_type_of(w->s, in->type_id) != function->type->params[function->param_count])
      agxc_spv_invalid(w->s, "type of parameter %u", function->param_count);
   agxc_spv_result(w->s, in)->kind = AGXC_SPV_ID_PENDING;
   function->params[function->param_count++] = in->id;
}

static void begin_block(struct walk *w, const struct agxc_spv_instr *in)
{
   struct agxc_spv *s = w->s;
   if (w->block)
      agxc_spv_invalid(s, "block %u has no terminator", w->block->label);
   struct agxc_spv_block *block = AGX_ARENA_NEW(s->arena, struct agxc_spv_block);
   *block = (struct agxc_spv_block){
      .label = in->id, .first = in->at + in->length, .function = w->function, .line = w->line};
   w->line = 0;
   struct agxc_spv_id *id = agxc_spv_result(s, in);
   id->kind = AGXC_SPV_ID_LABEL;
   id->block = block;
   if (!w->blocks_begun)
      w->function->entry = block;
   w->function->block_count++;
   w->blocks_begun = true;
   w->past_phis = false;
   w->block = block;
   w->merge = 0;
}

static void end_function(struct walk *w)
{
   if (w->block)
      agxc_spv_invalid(w->s, "block %u has no terminator", w->block->label);
   if (w->function->param_count != w->function->type->count)
      agxc_spv_invalid(w->s, "%u parameters of %u", w->function->param_count,
                       w->function->type->count);
   w->function = NULL;
}

static void read_in_block(struct walk *w, const struct agxc_spv_instr *in,
                          const struct agxc_spv_op *row)
{
   struct agxc_spv *s = w->s;
   if (!w->block)
      agxc_spv_invalid(s, "outside blocks");
   if (w->merge && !(row->flags & AGXC_SPV_TERMINATOR))
      agxc_spv_invalid(s, "between a merge instruction and its branch");
   if (in->opcode == SpvOpPhi && w->past_phis)
      agxc_spv_invalid(s, "phi behind other instructions");
   w->past_phis |= in->opcode != SpvOpPhi;
   if (in->opcode == SpvOpLoopMerge || in->opcode == SpvOpSelectionMerge) {
      w->merge = w->block->merge = in->at;
   } else if (row->flags & AGXC_SPV_TERMINATOR) {
      w->block->end = in->at;
      w->block = NULL;
   } else if (in->opcode != SpvOpPhi && !(row->flags & AGXC_SPV_IN_BODY)) {
      agxc_spv_invalid(s, "not allowed in functions");
   }
   if (s->debug_import && in->opcode == SpvOpExtInst)
      agxc_spv_note_line(s, in);
   if (in->id)
      agxc_spv_result(s, in)->kind = AGXC_SPV_ID_PENDING;
   agxc_spv_scan_pointers(s, in);
}

static void read_in_function(struct walk *w, const struct agxc_spv_instr *in,
                             const struct agxc_spv_op *row)
{
   switch (in->opcode) {
   case SpvOpFunction:
      agxc_spv_invalid(w->s, "inside function %u", w->function->id);
   case SpvOpFunctionParameter:
      read_parameter(w, in);
      break;
   case SpvOpLabel:
      begin_block(w, in);
      break;
   case SpvOpFunctionEnd:
      end_function(w);
      break;
   default:
      read_in_block(w, in, row);
   }
}

/* What the entry point does not reach has an id and nothing else. */
static bool is_skipped(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   if (in->opcode == SpvOpTypeForwardPointer)
      return in->words[1] < s->bound && !s->reached[in->words[1]];
   if (!in->id || in->id >= s->bound || s->reached[in->id] || in->opcode == SpvOpExtInst ||
       in->opcode == SpvOpDecorationGroup)
      return false;
   agxc_spv_result(s, in)->kind = AGXC_SPV_ID_OTHER;
   return true;
}

static void read_in_module(struct walk *w, const struct agxc_spv_instr *in)
{
   if (is_skipped(w->s, in))
      return;
   for (size_t i = 0; i < AGX_COUNT(module_rows); i++) {
      if (in->opcode < module_rows[i].first || in->opcode > module_rows[i].last)
         continue;
      if (module_rows[i].read)
         module_rows[i].read(w, in);
      if (module_rows[i].make)
         module_rows[i].make(w->s, in);
      return;
   }
   if (in->opcode != SpvOpFunction)
      agxc_spv_invalid(w->s, "outside functions");
   begin_function(w, in);
}

/* Names and source lines, which may stand anywhere. */
static void note_debug(struct walk *w, const struct agxc_spv_instr *in)
{
   struct agxc_spv *s = w->s;
   if (in->opcode == SpvOpName || in->opcode == SpvOpMemberName)
      agxc_spv_note_name(s, in);
   else if (in->opcode == SpvOpSource)
      agxc_spv_note_source(s, in);
   else if (in->opcode == SpvOpLine || in->opcode == SpvOpNoLine) {
      const uint32_t line = agxc_spv_note_line(s, in);
      if (!w->block)
         w->line = line;
   }
}

void agxc_spv_read_module(struct agxc_spv *s)
{
   struct walk w = {.s = s};
   agxc_spv_find_reached(s);
   for (uint32_t at = AGXC_SPV_HEADER_WORDS; at < s->word_count;) {
      uint32_t behind = w.function ? at : agxc_spv_behind_unreached(s, at);
      if (behind != at) {
         at = behind;
         continue;
      }
      struct agxc_spv_instr in = agxc_spv_instr_at(s, at);
      const struct agxc_spv_op *row = agxc_spv_op_find(in.opcode);
      if (row->flags & AGXC_SPV_NO_EFFECT) {
         note_debug(&w, &in);
         if (in.id)
            agxc_spv_result(s, &in)->kind = AGXC_SPV_ID_OTHER;
      } else if (w.function) {
         read_in_function(&w, &in, row);
      } else {
         read_in_module(&w, &in);
      }
      at += in.length;
   }
   if (w.function)
      agxc_spv_invalid(s, "function %u has no end", w.function->id);
   if (!w.has_model)
      agxc_spv_invalid(s, "module without OpMemoryModel");
   if (s->entry_word == 0)
      agxc_spv_invalid(s, "no compute or vertex entry point%s%s",
                       s->shader->options->entry ? " named " : "",
                       s->shader->options->entry ? s->shader->options->entry : "");
}
