/* SPDX-License-Identifier: MIT
 *
 * Machine code from outside, instruction by instruction. What passes here can compute
 * nonsense, but it runs only instructions that we know, leaves the program nowhere but
 * at stop, and touches no register of another SIMD-group.
 */
#include <string.h>

#include "agx/chip.h"
#include "agx/isa/isa.h"
#include "base/bitset.h"
#include "base/util.h"
#include "program/container.h"

/* Known to both compilers: eight traps behind stop. Source: docs/hw/machine.md, 1. */
#define PADDING_B 16

struct code {
   const struct agx_program *program;
   const char *what;
   const uint8_t *bytes;
   uint32_t text_B, code_B;
   uint32_t gpr_halves;
   bool has_stack;          /* the preamble has none */
   agx_bitset_word *starts; /* one bit for each two bytes */
};

/* Instructions that only the kernel's programs hold or that are not understood, jumps and stores
 * to places that only a register knows, and tiles, which these programs don't have. */
static bool is_forbidden(uint16_t op)
{
   const struct agx_isa_info *info = agx_isa_info(op);
   return info->is_refused || info->is_guess;
}

/* Uniform registers are a preamble's only output, and its own alone; it has no workgroup and
 * no position. Source: docs/hw/machine.md, 10. */
static bool is_misplaced(const struct agx_isa_instr *instr, bool is_preamble)
{
   const struct agx_isa_info *info = agx_isa_info(instr->op);
   if (instr->op == AGX_ISA_OP_MFSR)
      return is_preamble && (instr->operand[AGX_ISA_MFSR_SR].value <
                                AGX_ISA_SR_DISPATCH_THREADS_PER_THREADGROUP_X ||
                             instr->operand[AGX_ISA_MFSR_SR].value >
                                AGX_ISA_SR_DISPATCH_THREADS_PER_THREADGROUP_Z);
   return is_preamble ? info->is_kernel_only : info->is_preamble_only;
}

static const struct agx_isa_operand *jump_offset(const struct agx_isa_instr *instr)
{
   switch (instr->op) {
   case AGX_ISA_OP_JMP_ANY:
      return &instr->operand[AGX_ISA_JMP_ANY_OFFSET];
   case AGX_ISA_OP_JMP_NONE:
      return &instr->operand[AGX_ISA_JMP_NONE_OFFSET];
   case AGX_ISA_OP_CALL:
      return &instr->operand[AGX_ISA_CALL_OFFSET];
   default:
      return NULL;
   }
}

static agx_status check_operands(const struct code *code, const struct agx_isa_instr *instr)
{
   const struct agx_isa_info *info = agx_isa_info(instr->op);
   for (unsigned i = 0; i < info->operand_count; i++) {
      const struct agx_isa_operand *operand = &instr->operand[i];
      bool is_reg = operand->kind == AGX_ISA_REG;
      if (!is_reg && operand->kind != AGX_ISA_UNIFORM)
         continue;
      uint32_t halves = operand->bits / 16u * AGX_MAX(operand->count, 1);
      uint32_t limit = is_reg ? code->gpr_halves : code->program->uniform_halves;
      if (!agx_range_fits((uint64_t)operand->value, halves, limit))
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s names %s half %u of %u", info->name,
                         is_reg ? "register" : "uniform", (unsigned)operand->value + halves - 1,
                         limit);
   }
   return AGX_OK;
}

/* ---- textures ---------------------------------------------------------- */

/* Registers that a coordinate vector takes, of 32 and of 16 bits, by dimension. What the operand
 * table says of such vectors is only where they begin. Source: docs/hw/machine.md, 14.
 */
static const struct {
   uint8_t wide, narrow;
} dims[] = {
   [AGX_ISA_DIM_1D] = {1, 1},          [AGX_ISA_DIM_1D_ARRAY] = {2, 2},
   [AGX_ISA_DIM_2D] = {2, 2},          [AGX_ISA_DIM_2D_ARRAY] = {3, 3},
   [AGX_ISA_DIM_2D_MS] = {3, 3},       [AGX_ISA_DIM_3D] = {3, 3},
   [AGX_ISA_DIM_CUBE] = {3, 3},        [AGX_ISA_DIM_CUBE_ARRAY] = {4, 4},
   [AGX_ISA_DIM_2D_MS_ARRAY] = {3, 4},
};

static bool registers_fit(const struct code *code, const struct agx_isa_operand *first,
                          unsigned halves)
{
   return first->kind != AGX_ISA_REG ||
          agx_range_fits((uint64_t)first->value, halves, code->gpr_halves);
}

static bool coordinates_fit(const struct code *code, const struct agx_isa_operand *coord,
                            int64_t dim)
{
   if (dim < 0 || dim >= (int64_t)AGX_COUNT(dims))
      return false;
   return registers_fit(code, coord, coord->bits == 16 ? dims[dim].narrow : 2u * dims[dim].wide);
}

static uint32_t count_states(const struct agx_program *program, bool textures)
{
   uint32_t count = 0;
   for (uint32_t i = 0; i < program->state_count; i++)
      count += agx_state_is_texture(program->states[i].kind) == textures;
   return count;
}

/* A state register that the program's table fills. */
static bool is_state(const struct code *code, const struct agx_isa_operand *operand)
{
   bool is_texture = operand->kind == AGX_ISA_TS;
   return (is_texture || operand->kind == AGX_ISA_SS) && operand->value >= 0 &&
          operand->value < count_states(code->program, is_texture);
}

/* The heap of an array's descriptors, and a byte offset in a register. */
static bool is_bindless(const struct code *code, const struct agx_isa_operand *heap,
                        const struct agx_isa_operand *texture)
{
   if (texture->kind != AGX_ISA_REG || texture->bits != 32 || heap->kind != AGX_ISA_UNIFORM)
      return false;
   for (uint32_t i = 0; i < code->program->uniform_count; i++) {
      const struct agx_program_uniform *slot = &code->program->uniforms[i];
      if (slot->kind == AGX_UNIFORM_HEAP && slot->start == heap->value)
         return agx_heap_part_is_hardware((uint32_t)slot->value);
   }
   return false;
}

/* Samplers of the device's heap, which a slot names. */
static bool has_heap_samplers(const struct agx_program *program)
{
   for (uint32_t i = 0; i < program->uniform_count; i++) {
      const struct agx_program_uniform *slot = &program->uniforms[i];
      if (slot->kind == AGX_UNIFORM_SAMPLER ||
          (slot->kind == AGX_UNIFORM_HEAP && slot->value == AGX_HEAP_SAMPLERS))
         return true;
   }
   return false;
}

/* A number that is computed: only where the program has more than one sampler, or the heap's. */
static bool is_sampler(const struct code *code, const struct agx_isa_operand *operand)
{
   bool is_computed = operand->kind == AGX_ISA_REG && operand->bits == 16;
   return is_computed ? count_states(code->program, false) > 1 || has_heap_samplers(code->program)
                      : is_state(code, operand);
}

static bool sample_fits(const struct code *code, const struct agx_isa_instr *instr)
{
   const struct agx_isa_operand *at = instr->operand;
   int64_t dim = at[AGX_ISA_SMPF_DIM].value;
   unsigned results = at[AGX_ISA_SMPF_SPARSE].value ? 8 : 4;
   unsigned gradients = agx_isa_gradient_count(instr) * at[AGX_ISA_SMPF_LOD].bits / 16u;
   bool is_there = is_state(code, &at[AGX_ISA_SMPF_TEXTURE]) ||
                   is_bindless(code, &at[AGX_ISA_SMPF_HEAP], &at[AGX_ISA_SMPF_TEXTURE]);
   return is_there && is_sampler(code, &at[AGX_ISA_SMPF_SAMPLER]) &&
          coordinates_fit(code, &at[AGX_ISA_SMPF_COORD], dim) &&
          registers_fit(code, &at[AGX_ISA_SMPF_R], results * at[AGX_ISA_SMPF_R].bits / 16u) &&
          registers_fit(code, &at[AGX_ISA_SMPF_LOD], gradients);
}

/* Textures and images by state register, or out of one of the program's heaps. */
static agx_status check_texture(const struct code *code, const struct agx_isa_instr *instr)
{
   bool fits = true;
   if (instr->op == AGX_ISA_OP_SMPF || instr->op == AGX_ISA_OP_SMPI)
      fits = sample_fits(code, instr);
   else if (instr->op == AGX_ISA_OP_IMGW)
      fits = (is_state(code, &instr->operand[AGX_ISA_IMGW_TEXTURE]) ||
              is_bindless(code, &instr->operand[AGX_ISA_IMGW_HEAP],
                          &instr->operand[AGX_ISA_IMGW_TEXTURE])) &&
             coordinates_fit(code, &instr->operand[AGX_ISA_IMGW_COORD],
                             instr->operand[AGX_ISA_IMGW_DIM].value);
   if (fits)
      return AGX_OK;
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s names state or registers that it does not have",
                   agx_isa_info(instr->op)->name);
}

/* ---- scratch memory ---------------------------------------------------- */

/* Immediate offset of a stack access in bytes, and its first byte behind; false: no access,
 * or its offset is in a register. */
static bool stack_bytes(const struct agx_isa_instr *instr, int64_t *out_from, int64_t *out_to)
{
   _Static_assert((int)AGX_ISA_STACK_LOAD_INDEX == (int)AGX_ISA_STACK_STORE_INDEX &&
                     (int)AGX_ISA_STACK_LOAD_MASK == (int)AGX_ISA_STACK_STORE_MASK &&
                     (int)AGX_ISA_STACK_LOAD_FORMAT == (int)AGX_ISA_STACK_STORE_FORMAT &&
                     (int)AGX_ISA_STACK_LOAD_SHIFT == (int)AGX_ISA_STACK_STORE_SHIFT,
                  "loads and stores have the same operands");
   if (instr->operand[AGX_ISA_STACK_LOAD_INDEX].kind == AGX_ISA_REG)
      return false;
   int64_t elements =
      32 - __builtin_clz((uint32_t)instr->operand[AGX_ISA_STACK_LOAD_MASK].value | 1u);
   *out_from = instr->operand[AGX_ISA_STACK_LOAD_INDEX].value *
               ((int64_t)1 << instr->operand[AGX_ISA_STACK_LOAD_SHIFT].value);
   *out_to = *out_from + (elements << AGX_MIN(instr->operand[AGX_ISA_STACK_LOAD_FORMAT].value, 2));
   return true;
}

/* A frame is taken once, by the first instruction, as large as the program declares; only
 * then may the stack be touched. Offsets in registers are the program's affair. */
static agx_status check_stack(const struct code *code, const struct agx_isa_instr *instr,
                              uint32_t at)
{
   const struct agx_program *program = code->program;
   uint32_t frame_B = code->has_stack ? program->scratch_B : 0;
   bool is_adjust = instr->op == AGX_ISA_OP_STACK_ADJUST;
   bool is_access = instr->op == AGX_ISA_OP_STACK_LOAD || instr->op == AGX_ISA_OP_STACK_STORE;
   const struct agx_isa_operand *amount = &instr->operand[AGX_ISA_STACK_ADJUST_INDEX];
   int64_t from = 0, to = 0;
   if (at == 0 && frame_B &&
       (!is_adjust || amount->kind != AGX_ISA_IMM || amount->value * 4 != (int64_t)frame_B))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "does not begin by taking %u bytes of scratch memory",
                      frame_B);
   if ((is_adjust && (at != 0 || !frame_B)) || (is_access && !frame_B))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s without scratch memory",
                      agx_isa_info(instr->op)->name);
   if (is_access && stack_bytes(instr, &from, &to) && (from < 0 || to > frame_B))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "scratch bytes %lld to %lld of %u", (long long)from,
                      (long long)to, frame_B);
   return AGX_OK;
}

/* ---- the walk ---------------------------------------------------------- */

/* Everything but jumps. */
static agx_status check_instruction(const struct code *code, const struct agx_isa_instr *instr,
                                    uint32_t at)
{
   const char *name = agx_isa_info(instr->op)->name;
   if (is_forbidden(instr->op) || is_misplaced(instr, !code->has_stack))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s is not allowed", name);
   AGX_TRY(check_operands(code, instr));
   AGX_TRY(check_texture(code, instr));
   AGX_TRY(check_stack(code, instr, at));
   agx_bitset_set(code->starts, at / 2);
   bool ends_text = at < code->text_B && at + instr->length >= code->text_B;
   bool is_end = ends_text && at + instr->length == code->text_B;
   if ((ends_text && (!is_end || instr->op != AGX_ISA_OP_STOP)) ||
       (at >= code->text_B && instr->op != AGX_ISA_OP_TRAP))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s where the program must end in stop and traps",
                      name);
   return AGX_OK;
}

/* After check_instruction() of all: everything decodes and starts is complete. */
static agx_status check_jump(const struct code *code, const struct agx_isa_instr *instr,
                             uint32_t at)
{
   const struct agx_isa_operand *offset = jump_offset(instr);
   if (!offset)
      return AGX_OK;
   int64_t target = (int64_t)at + offset->value;
   bool again = target == 0 && code->has_stack && code->program->scratch_B;
   if (again || target < 0 || target >= code->text_B || target % 2 != 0 ||
       !agx_bitset_test(code->starts, (size_t)target / 2))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "jump to %lld is not an instruction of it",
                      (long long)target);
   return AGX_OK;
}

/* Checks each instruction below end; a failure gets its place. */
static agx_status for_each(const struct code *code, uint32_t end,
                           agx_status (*check)(const struct code *code,
                                               const struct agx_isa_instr *instr, uint32_t at))
{
   struct agx_isa_instr instr = {0};
   for (uint32_t at = 0; at < end; at += instr.length) {
      agx_status status = agx_isa_decode(code->bytes + at, code->code_B - at, &instr);
      if (status == AGX_OK)
         status = check(code, &instr, at);
      if (status != AGX_OK) {
         agx_error_prefix("%s at 0x%x", code->what, at);
         return status;
      }
   }
   return AGX_OK;
}

static agx_status check_one(struct code *code, const struct agx_host_alloc *alloc)
{
   if (code->text_B < 2 || !agx_range_fits(code->text_B, PADDING_B, code->code_B) ||
       code->code_B % 2 != 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s has %u bytes of which %u are text", code->what,
                      code->code_B, code->text_B);
   size_t size = agx_bitset_words(code->code_B / 2) * sizeof(agx_bitset_word);
   code->starts = agx_host_zalloc(alloc, size);
   if (!code->starts)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory to check it");
   agx_status status = for_each(code, code->code_B, check_instruction);
   if (status == AGX_OK)
      status = for_each(code, code->text_B, check_jump);
   agx_host_free(alloc, code->starts, size);
   return status;
}

/* The preamble's text length is not recorded: padding goes back to the last stop. */
static uint32_t text_before_traps(const uint8_t *bytes, uint32_t size)
{
   static const uint8_t trap[2] = {8, 0};
   while (size >= 2 && memcmp(bytes + size - 2, trap, 2) == 0)
      size -= 2;
   return size;
}

agx_status agx_program_check_code(const struct agx_program *program,
                                  const struct agx_host_alloc *alloc)
{
   struct code code = {
      program, "code", program->code, program->text_B, program->code_B, program->gpr_halves, true};
   AGX_TRY(check_one(&code, alloc));
   if (!program->preamble_B)
      return AGX_OK;
   code = (struct code){program,
                        "preamble",
                        program->preamble,
                        text_before_traps(program->preamble, program->preamble_B),
                        program->preamble_B,
                        program->preamble_gpr_halves,
                        false};
   return check_one(&code, alloc);
}
