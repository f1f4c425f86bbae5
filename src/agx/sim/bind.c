/* SPDX-License-Identifier: MIT */
#include "agx/sim/bind.h"

#include "agx/sim/format.h"
#include "base/util.h"

/* Where a row keeps what; operand indices plus 1, 0 for none. */
struct binding {
   void (*bind)(struct agxs_bound *bound, const struct binding *binding);
   uint8_t exec;
   uint8_t d, src[4];
   uint8_t mode;  /* operand that becomes uop.mode */
   uint8_t flag;  /* sat, prefix, rotate */
   uint8_t imm;   /* bitmask, nest, special register, offset */
   uint8_t fixed; /* a number that the row stands for: truth table, integer size ... */
   bool is_signed;
};

static void refuse(struct agxs_bound *bound, agx_status code, const char *reason)
{
   if (bound->refusal)
      return;
   bound->refusal = reason;
   bound->code = code;
}

static const struct agx_isa_operand *operand_at(const struct agxs_bound *bound, uint8_t index)
{
   static const struct agx_isa_operand absent;
   return index ? &bound->instr->operand[index - 1] : &absent;
}

static int64_t number_at(const struct agxs_bound *bound, uint8_t index)
{
   return operand_at(bound, index)->value;
}

static void mark_halves(uint64_t *set, unsigned first, unsigned count)
{
   for (unsigned half = first; half < first + count; half++)
      set[half / 64] |= 1ull << half % 64;
}

/* Registers that an operand covers, checked against the declaration and noted. */
static bool check_register(struct agxs_bound *bound, const struct agx_isa_operand *operand,
                           unsigned elements, bool is_write)
{
   unsigned halves = elements * (operand->bits / 16u);
   if (operand->bits >= 32 && operand->value & 1)
      refuse(bound, AGX_INVALID_ARGUMENT, "a 32-bit register starts on an odd half");
   if (!agx_range_fits((uint64_t)operand->value, halves, bound->kernel->request.halves)) {
      refuse(bound, AGX_INVALID_ARGUMENT, "a register beyond the count that the launch declares");
      return false;
   }
   mark_halves(is_write ? bound->regs.writes : bound->regs.reads, (unsigned)operand->value, halves);
   if (!is_write && operand->hint == AGX_ISA_HINT_DISCARD)
      mark_halves(bound->regs.discards, (unsigned)operand->value, halves);
   return true;
}

static void set_dest(struct agxs_bound *bound, const struct agx_isa_operand *operand,
                     unsigned elements)
{
   struct agxs_dest *dst = &bound->uop.dst;
   if (operand->kind == AGX_ISA_NONE)
      return;
   if (operand->kind != AGX_ISA_REG) {
      refuse(bound, AGX_UNIMPLEMENTED, "a destination that is no register");
      return;
   }
   if (!check_register(bound, operand, elements, true))
      return;
   dst->row = (uint16_t)(operand->value / 2);
   dst->bits = operand->bits;
   dst->shift = operand->bits == 16 && operand->value & 1 ? 16 : 0;
   dst->mask = operand->bits == 16 ? 0xffffu << dst->shift : ~0u;
}

/* A constant row that holds the operand's final value in every lane. */
static void set_constant(struct agxs_bound *bound, const struct agx_isa_operand *operand,
                         struct agxs_source *source, struct agxs_constant constant)
{
   const struct agxs_kernel_request *request = &bound->kernel->request;
   uint64_t halves = operand->bits / 16u;
   if (constant.is_uniform) {
      uint64_t limit = request->check ? request->uniform_halves : AGX_UNIFORM_HALVES;
      if (!agx_range_fits((uint64_t)operand->value, halves, limit)) {
         refuse(bound, AGX_INVALID_ARGUMENT, "a uniform beyond the count that the launch declares");
         return;
      }
   }
   constant.value = (uint32_t)operand->value;
   source->bank = AGXS_BANK_POOL;
   source->bits = operand->bits == 64 ? 64 : 32;
   source->row = agxs_kernel_constant(bound->kernel, &constant);
   if (operand->bits == 64) {
      constant.is_high = true; /* made right after the low word: the next row */
      agxs_kernel_constant(bound->kernel, &constant);
   }
}

static void set_register(struct agxs_bound *bound, const struct agx_isa_operand *operand,
                         struct agxs_source *source, unsigned elements)
{
   if (!check_register(bound, operand, elements, false))
      return;
   source->bank = AGXS_BANK_REG;
   source->row = (uint16_t)(operand->value / 2);
   source->bits = operand->bits;
   source->right = operand->bits == 16 ? 16 : 0;
   source->left = operand->bits == 16 && !(operand->value & 1) ? 16 : 0;
   source->sign = operand->bits == 16 && source->is_signed ? 0x8000 : 0;
}

static void set_source(struct agxs_bound *bound, unsigned index, uint8_t at, bool is_float,
                       bool is_signed)
{
   const struct agx_isa_operand *operand = operand_at(bound, at);
   struct agxs_source *source = &bound->uop.src[index];
   struct agxs_constant constant = {
      .bits = operand->bits ? operand->bits : 16,
      .is_float = is_float,
      .is_signed = is_signed,
      .keep = operand->abs ? 0x7fffffff : ~0u,
      .flip = operand->neg ? 0x80000000u : 0,
   };
   source->keep = ~0u;
   source->is_signed = is_signed;
   switch (operand->kind) {
   case AGX_ISA_NONE: /* such as threadgroup address 0, or the a of a plain shift */
      set_constant(bound, operand_at(bound, 0), source, constant);
      break;
   case AGX_ISA_IMM:
      /* An immediate counts as 16 bits, but one of 32 (ldimm) has its own size. */
      constant.bits = operand->value > 0xffff ? 32 : 16;
      set_constant(bound, operand, source, constant);
      break;
   case AGX_ISA_FIMM:
      constant.bits = 8;
      set_constant(bound, operand, source, constant);
      break;
   case AGX_ISA_UNIFORM:
      constant.is_uniform = true;
      set_constant(bound, operand, source, constant);
      break;
   case AGX_ISA_REG:
      source->keep = constant.keep;
      source->flip = constant.flip;
      set_register(bound, operand, source, AGX_MAX(operand->count, 1));
      break;
   default:
      refuse(bound, AGX_UNIMPLEMENTED, "an operand of this kind is not modelled");
      break;
   }
}

/* Integer operation: mode, flag and imm as the table says. */
static void bind_int(struct agxs_bound *bound, const struct binding *binding)
{
   set_dest(bound, operand_at(bound, binding->d), 1);
   for (unsigned i = 0; i < 4; i++) {
      if (binding->src[i] || i < 3)
         set_source(bound, i, binding->src[i], false, binding->is_signed);
   }
   bound->uop.imm = number_at(bound, binding->imm);
   bound->uop.mode = binding->mode ? (uint8_t)number_at(bound, binding->mode) : binding->fixed;
}

/* Truth tables 3 and 12 give a on tested hardware. */
static void bind_bitop(struct agxs_bound *bound, const struct binding *binding)
{
   bind_int(bound, binding);
   uint8_t *mode = &bound->uop.mode;
   if (*mode == AGX_ISA_TRUTH_MOV_A || *mode == AGX_ISA_TRUTH_NOT_A)
      *mode = AGX_ISA_TRUTH_MOV;
   if (*mode == AGX_ISA_TRUTH_MOV)
      bound->uop.exec_index = AGXS_X_mov;
}

/* iadd and imadd: which form follows from sizes. exec is the plain one; the 64-bit
 * and the saturating follow it in the list. */
static void bind_add(struct agxs_bound *bound, const struct binding *binding)
{
   struct agxs_uop *uop = &bound->uop;
   set_dest(bound, operand_at(bound, binding->d), 1);
   for (unsigned i = 0; i < 3; i++)
      set_source(bound, i, binding->src[i], false, operand_at(bound, binding->src[i])->sx);
   uop->negate = binding->fixed;
   uop->shift = (uint8_t)number_at(bound, binding->imm);
   bool is_multiply = binding->exec == AGXS_X_imadd;
   bool is_wide =
      is_multiply ? uop->src[2].bits == 64 : uop->src[0].bits == 64 || uop->src[1].bits == 64;
   /* Saturation is silently off with a shift or any 64-bit operand. */
   uop->saturate =
      number_at(bound, binding->flag) && uop->shift == 0 && uop->dst.bits <= 32 && !is_wide;
   if (uop->dst.bits == 64)
      uop->exec_index = is_multiply ? AGXS_X_imadd64 : AGXS_X_iadd64;
   else if (uop->saturate)
      uop->exec_index = is_multiply ? AGXS_X_imadd_sat : AGXS_X_iadd_sat;
}

/* asr and asrh take a from its own size; b and the rest are plain. */
static void bind_asr(struct agxs_bound *bound, const struct binding *binding)
{
   set_dest(bound, operand_at(bound, binding->d), 1);
   set_source(bound, 0, binding->src[0], false, true);
   set_source(bound, 1, binding->src[1], false, false);
}

static void bind_float(struct agxs_bound *bound, const struct binding *binding)
{
   set_dest(bound, operand_at(bound, binding->d), 1);
   for (unsigned i = 0; i < 3 && binding->src[i]; i++)
      set_source(bound, i, binding->src[i], true, false);
   bound->uop.saturate = number_at(bound, binding->flag) != 0;
}

static void bind_round(struct agxs_bound *bound, const struct binding *binding)
{
   bound->uop.mode = (uint8_t)number_at(bound, binding->mode);
   if (bound->uop.mode > AGX_ISA_ROUND_RTE)
      refuse(bound, AGX_UNIMPLEMENTED, "this rounding mode is unknown");
   set_dest(bound, operand_at(bound, binding->d), 1);
   set_source(bound, 0, binding->src[0], binding->exec == AGXS_X_f_to_int, false);
   bound->uop.count = binding->fixed;
   bound->uop.is_signed = binding->is_signed;
}

/* Conditions: bit 3 inverts where the instruction has it; 4..7 are signed. */
static void set_int_condition(struct agxs_bound *bound, const struct binding *binding)
{
   unsigned condition = binding->mode ? (unsigned)number_at(bound, binding->mode) : 0;
   bool is_signed = condition & 4;
   bound->uop.invert = condition >> 3 & 1;
   bound->uop.mode = condition & 7;
   if ((condition & 3) == 3)
      refuse(bound, AGX_UNIMPLEMENTED, "this integer condition is unknown");
   set_source(bound, 0, binding->src[0], false, is_signed);
   set_source(bound, 1, binding->src[1], false, is_signed);
}

static void set_float_condition(struct agxs_bound *bound, const struct binding *binding)
{
   unsigned condition = binding->mode ? (unsigned)number_at(bound, binding->mode) : 0;
   bound->uop.invert = condition >> 3 & 1;
   bound->uop.mode = condition & 7;
   if ((condition & 7) == 4)
      refuse(bound, AGX_UNIMPLEMENTED, "this float condition is unknown");
   set_source(bound, 0, binding->src[0], true, false);
   set_source(bound, 1, binding->src[1], true, false);
}

static void set_condition(struct agxs_bound *bound, const struct binding *binding)
{
   if (binding->fixed) /* float */
      set_float_condition(bound, binding);
   else
      set_int_condition(bound, binding);
}

static void bind_select(struct agxs_bound *bound, const struct binding *binding)
{
   set_dest(bound, operand_at(bound, binding->d), 1);
   set_condition(bound, binding);
   set_source(bound, 2, binding->src[2], false, false);
   set_source(bound, 3, binding->src[3], false, false);
}

static void bind_ballot(struct agxs_bound *bound, const struct binding *binding)
{
   set_dest(bound, operand_at(bound, binding->d), 1);
   set_condition(bound, binding);
   bound->uop.window = binding->flag ? number_at(bound, binding->flag) : true;
}

/* if, else, while; and what has no condition at all: pop_exec and update_exec. */
static void bind_mask(struct agxs_bound *bound, const struct binding *binding)
{
   const struct agx_isa_operand counter = {.kind = AGX_ISA_REG, .bits = 16, .count = 1};
   check_register(bound, &counter, 1, false);
   check_register(bound, &counter, 1, true);
   bound->uop.nest = (uint8_t)number_at(bound, binding->imm);
   if (binding->src[0])
      set_condition(bound, binding);
}

static void bind_jump(struct agxs_bound *bound, const struct binding *binding)
{
   bound->jumps = true;
   bound->target_pc = number_at(bound, binding->imm);
   if (binding->exec != AGXS_X_call)
      return;
   const struct agx_isa_operand link = {.kind = AGX_ISA_REG, .bits = 32, .count = 1, .value = 2};
   set_dest(bound, &link, 1);
}

static void bind_ret(struct agxs_bound *bound, const struct binding *binding)
{
   set_source(bound, 0, binding->src[0], false, false);
   bound->ends = true;
}

static void bind_end(struct agxs_bound *bound, const struct binding *binding)
{
   bound->ends = true;
}

static void bind_nothing(struct agxs_bound *bound, const struct binding *binding) {}

static void bind_barrier(struct agxs_bound *bound, const struct binding *binding)
{
   if (bound->kernel->request.is_preamble)
      refuse(bound, AGX_INVALID_ARGUMENT, "a preamble is no workgroup");
}

static void bind_wait(struct agxs_bound *bound, const struct binding *binding)
{
   bound->uop.group = (uint8_t)number_at(bound, binding->imm) & 1;
}

/* Special registers of compute; those that are the workgroup's are not a preamble's. */
static void bind_mfsr(struct agxs_bound *bound, const struct binding *binding)
{
   int64_t number = number_at(bound, binding->imm);
   bool is_local = number < AGX_ISA_SR_THREADGROUP_WIDTH ||
                   (number >= AGX_ISA_SR_THREAD_IN_THREADGROUP_X &&
                    number <= AGX_ISA_SR_SIMDGROUP_INDEX_IN_THREADGROUP) ||
                   (number >= AGX_ISA_SR_THREAD_IN_GRID_X && number <= AGX_ISA_SR_THREAD_IN_GRID_Z);
   bool is_known = (is_local && number != 3 && number != 7 && number != 11) ||
                   (number >= AGX_ISA_SR_ACTIVE_THREAD_INDEX_IN_QUADGROUP &&
                    number <= AGX_ISA_SR_TOTAL_ACTIVE_THREADS_IN_SIMDGROUP) ||
                   number == AGX_ISA_SR_IS_ACTIVE_THREAD || number == AGX_ISA_SR_CORE_INDEX ||
                   number == AGX_ISA_SR_VM_SLOT;
   if (!is_known)
      refuse(bound, AGX_UNIMPLEMENTED, "this special register is not modelled");
   else if (is_local && bound->kernel->request.is_preamble && bound->kernel->request.check)
      refuse(bound, AGX_INVALID_ARGUMENT, "a preamble has no thread position or workgroup");
   bound->uop.imm = number;
   set_dest(bound, operand_at(bound, binding->d), 1);
}

/* Index operand of memory: a register, or the immediate in imm. */
static void set_index(struct agxs_bound *bound, uint8_t at)
{
   const struct agx_isa_operand *operand = operand_at(bound, at);
   if (operand->kind == AGX_ISA_REG) {
      set_source(bound, 2, at, false, operand->sx);
      bound->uop.has_index = true;
      return;
   }
   bound->uop.imm = operand->value;
}

/* Format, mask and register vector. Packed formats ignore the mask. */
static void set_vector(struct agxs_bound *bound, uint8_t at, uint8_t format_at, uint8_t mask_at,
                       bool is_write)
{
   const struct agx_isa_operand *operand = operand_at(bound, at);
   unsigned number = (unsigned)number_at(bound, format_at);
   const struct agxs_format *format = &agxs_formats[number & 15];
   bound->uop.format = number & 15;
   bound->uop.mask = (uint8_t)number_at(bound, mask_at) & 15;
   if (number > 15 || !format->known) {
      refuse(bound, AGX_UNIMPLEMENTED, "this memory format is unknown");
      return;
   }
   if (number == AGX_ISA_FORMAT_I32 && operand->bits != 32)
      refuse(bound, AGX_INVALID_ARGUMENT, "format i32 needs 32-bit registers");
   if (number == AGX_ISA_FORMAT_F16 && operand->bits != 16)
      refuse(bound, AGX_UNIMPLEMENTED, "format f16 with 32-bit registers is unverified");
   unsigned elements =
      format->channels ? format->channels : (unsigned)__builtin_popcount(bound->uop.mask);
   if (is_write)
      set_dest(bound, operand, elements);
   else
      set_register(bound, operand, &bound->uop.src[0], elements);
}

/* fixed: 1 for a store. src: register vector, base, index, shift; flag: the group;
 * mode: format; imm: mask. */
static void bind_memory(struct agxs_bound *bound, const struct binding *binding)
{
   int64_t shift = number_at(bound, binding->src[3]);
   bound->uop.shift = shift > 2 ? 2 : (uint8_t)shift;
   set_vector(bound, binding->src[0], binding->mode, binding->imm, !binding->fixed);
   if (binding->src[1])
      set_source(bound, 1, binding->src[1], false, false);
   set_index(bound, binding->src[2]);
   if (binding->flag) {
      bound->uop.group = (uint8_t)number_at(bound, binding->flag) & 1;
      bound->async_group = bound->uop.group + 1;
   }
}

static void bind_stack(struct agxs_bound *bound, const struct binding *binding)
{
   bind_memory(bound, binding);
   if (bound->uop.shift)
      refuse(bound, AGX_UNIMPLEMENTED, "the shift of a stack access is unknown");
   if (bound->uop.format > AGX_ISA_FORMAT_I32)
      refuse(bound, AGX_UNIMPLEMENTED, "this format is not known to work on the stack");
}

static void bind_local(struct agxs_bound *bound, const struct binding *binding)
{
   bind_memory(bound, binding);
   if (!bound->refusal && agxs_formats[bound->uop.format].channels)
      refuse(bound, AGX_UNIMPLEMENTED, "packed formats in threadgroup memory are not modelled");
}

static void bind_atomic(struct agxs_bound *bound, const struct binding *binding)
{
   const struct agx_isa_operand *data = operand_at(bound, binding->src[0]);
   bound->uop.mode = (uint8_t)number_at(bound, binding->mode);
   if (bound->uop.mode > AGX_ISA_ATOMIC_XOR)
      refuse(bound, AGX_UNIMPLEMENTED, "this atomic operation is unknown");
   bool is_pair = bound->uop.mode == AGX_ISA_ATOMIC_CMPXCHG;
   set_register(bound, data, &bound->uop.src[0], is_pair ? 2 : 1);
   set_dest(bound, operand_at(bound, binding->d), 1);
   set_source(bound, 1, binding->src[1], false, false);
   set_index(bound, binding->src[2]);
   if (binding->flag) {
      bound->uop.group = (uint8_t)number_at(bound, binding->flag) & 1;
      bound->async_group = bound->uop.group + 1;
   }
}

static void bind_stack_adjust(struct agxs_bound *bound, const struct binding *binding)
{
   set_index(bound, binding->src[2]);
   if (bound->uop.has_index)
      refuse(bound, AGX_UNIMPLEMENTED, "adjusting the stack by a register is not modelled");
   else if (bound->uop.imm > 0)
      bound->stack_words = (uint32_t)bound->uop.imm;
}

static void bind_uniform_store(struct agxs_bound *bound, const struct binding *binding)
{
   const struct agx_isa_operand *to = operand_at(bound, binding->d);
   const struct agx_isa_operand *from = operand_at(bound, binding->src[0]);
   unsigned halves = AGX_MAX(to->count, 1) * (to->bits / 16u);
   if (!bound->kernel->request.is_preamble)
      refuse(bound, AGX_INVALID_ARGUMENT, "only a preamble stores uniforms");
   struct agx_isa_operand data = *from;
   data.bits = 16, data.count = (uint8_t)halves;
   bound->uop.imm = to->value;
   bound->uop.count = (uint8_t)halves;
   set_register(bound, &data, &bound->uop.src[0], halves);
}

static void bind_shuffle(struct agxs_bound *bound, const struct binding *binding)
{
   struct agxs_uop *uop = &bound->uop;
   set_dest(bound, operand_at(bound, binding->d), 1);
   set_source(bound, 0, binding->src[0], false, false);
   set_source(bound, 1, binding->src[1], false, false);
   uop->mode = (uint8_t)number_at(bound, binding->mode);
   uop->window = number_at(bound, AGX_ISA_SHUFFLE_WINDOW + 1) != 0;
   uop->prefix = number_at(bound, binding->flag) != 0;
   if (uop->prefix && uop->mode != AGX_ISA_SHUFFLE_OP_UP)
      refuse(bound, AGX_UNIMPLEMENTED, "rotation is only known for op=up");
}

static void bind_reduce(struct agxs_bound *bound, const struct binding *binding)
{
   static const uint32_t known =
      1u << AGX_ISA_SUBOP_AND | 1u << AGX_ISA_SUBOP_FADD | 1u << AGX_ISA_SUBOP_OR |
      1u << AGX_ISA_SUBOP_FMUL | 1u << AGX_ISA_SUBOP_XOR | 1u << AGX_ISA_SUBOP_FMIN |
      1u << AGX_ISA_SUBOP_FMAX | 1u << AGX_ISA_SUBOP_IADD | 1u << AGX_ISA_SUBOP_SMIN |
      1u << AGX_ISA_SUBOP_SMAX | 1u << AGX_ISA_SUBOP_UMIN | 1u << AGX_ISA_SUBOP_UMAX;
   struct agxs_uop *uop = &bound->uop;
   const struct agx_isa_operand *source = operand_at(bound, binding->src[0]);
   int64_t op = number_at(bound, binding->mode);
   if (op > 31 || !(known >> op & 1)) {
      refuse(bound, AGX_UNIMPLEMENTED, "this reduction is unknown");
      return;
   }
   bool is_float = op < AGX_ISA_SUBOP_IADD && op & 1;
   bool is_signed = op == AGX_ISA_SUBOP_SMIN || op == AGX_ISA_SUBOP_SMAX;
   set_dest(bound, operand_at(bound, binding->d), 1);
   set_source(bound, 0, binding->src[0], is_float, is_signed);
   uop->mode = (uint8_t)op;
   uop->prefix = number_at(bound, binding->flag) != 0;
   uop->window = binding->fixed;
   uop->count =
      source->kind == AGX_ISA_REG || source->kind == AGX_ISA_UNIFORM ? source->bits : uop->dst.bits;
}

static void bind_matrix(struct agxs_bound *bound, const struct binding *binding)
{
   const struct agx_isa_operand *d = operand_at(bound, binding->d);
   set_dest(bound, d, 2);
   for (unsigned i = 0; i < 3; i++) {
      const struct agx_isa_operand *source = operand_at(bound, binding->src[i]);
      int64_t end = source->value + 2 * source->bits / 16;
      if (source->abs || source->neg)
         refuse(bound, AGX_UNIMPLEMENTED, "modifiers of matrix sources are untested");
      if (i < 2 && source->value < d->value + 2 * d->bits / 16 && d->value < end)
         refuse(bound, AGX_INVALID_ARGUMENT, "the destination overlaps a or b");
      set_source(bound, i, binding->src[i], true, false);
   }
}

#define AT(row, operand) AGX_ISA_##row##_##operand + 1

#define INT1(row, fn) [AGX_ISA_OP_##row] = {bind_int, AGXS_X_##fn, AT(row, D), {AT(row, A)}}
#define INT2(row, fn)                                                                              \
   [AGX_ISA_OP_##row] = {bind_int, AGXS_X_##fn, AT(row, D), {AT(row, A), AT(row, B)}}
#define BITS3(row, fn)                                                                             \
   [AGX_ISA_OP_##                                                                                  \
      row] = {bind_int, AGXS_X_##fn, AT(row, D),      {AT(row, A), AT(row, B), AT(row, C)},        \
              0,        0,           AT(row, BITMASK)}
#define ASR(row, fn)                                                                               \
   [AGX_ISA_OP_##row] = {bind_asr, AGXS_X_##fn, AT(row, D), {AT(row, A), AT(row, B)}}
#define SHIFT(row, fn)                                                                             \
   [AGX_ISA_OP_##row] = {bind_int, AGXS_X_##fn, AT(row, D), {0, AT(row, B), AT(row, C)}}
#define BIT1(row)                                                                                  \
   [AGX_ISA_OP_##                                                                                  \
      row] = {bind_bitop, AGXS_X_bitop, AT(row, D), {AT(row, A)}, .fixed = AGX_ISA_TRUTH_##row}
#define BIT2(row)                                                                                  \
   [AGX_ISA_OP_##row] = {bind_bitop,                                                               \
                         AGXS_X_bitop,                                                             \
                         AT(row, D),                                                               \
                         {AT(row, A), AT(row, B)},                                                 \
                         .fixed = AGX_ISA_TRUTH_##row}
#define ADD(row, minus)                                                                            \
   [AGX_ISA_OP_##row] = {bind_add,                                                                 \
                         AGXS_X_iadd,                                                              \
                         AT(row, D),                                                               \
                         {AT(row, A), AT(row, B)},                                                 \
                         .flag = AT(row, SAT),                                                     \
                         .imm = AT(row, SHIFT),                                                    \
                         .fixed = minus}
#define MADD(row, minus)                                                                           \
   [AGX_ISA_OP_##row] = {bind_add,                                                                 \
                         AGXS_X_imadd,                                                             \
                         AT(row, D),                                                               \
                         {AT(row, A), AT(row, B), AT(row, C)},                                     \
                         .flag = AT(row, SAT),                                                     \
                         .imm = AT(row, SHIFT),                                                    \
                         .fixed = minus}
#define FLOAT1(row, fn)                                                                            \
   [AGX_ISA_OP_##row] = {bind_float, AGXS_X_##fn, AT(row, D), {AT(row, A)}, .flag = AT(row, SAT)}
#define FLOAT2(row, fn)                                                                            \
   [AGX_ISA_OP_##                                                                                  \
      row] = {bind_float, AGXS_X_##fn, AT(row, D), {AT(row, A), AT(row, B)}, .flag = AT(row, SAT)}
#define FLOAT3(row, fn)                                                                            \
   [AGX_ISA_OP_##row] = {bind_float,                                                               \
                         AGXS_X_##fn,                                                              \
                         AT(row, D),                                                               \
                         {AT(row, A), AT(row, B), AT(row, C)},                                     \
                         .flag = AT(row, SAT)}
#define CONVERT(row, fn, bits, sign)                                                               \
   [AGX_ISA_OP_##                                                                                  \
      row] = {bind_round,    AGXS_X_##fn,      AT(row, D), {AT(row, A)}, .mode = AT(row, ROUND),   \
              .fixed = bits, .is_signed = sign}
#define SELECT(row, fn, is_float)                                                                  \
   [AGX_ISA_OP_##row] = {bind_select,                                                              \
                         AGXS_X_##fn,                                                              \
                         AT(row, D),                                                               \
                         {AT(row, A), AT(row, B), AT(row, X), AT(row, Y)},                         \
                         .mode = AT(row, COND),                                                    \
                         .fixed = is_float}
#define BALLOT(row, fn, is_float)                                                                  \
   [AGX_ISA_OP_##row] = {bind_ballot,                                                              \
                         AGXS_X_##fn,                                                              \
                         AT(row, D),                                                               \
                         {AT(row, A), AT(row, B)},                                                 \
                         .mode = AT(row, COND),                                                    \
                         .flag = AT(row, WINDOW),                                                  \
                         .fixed = is_float}
#define MASK(row, fn, is_float)                                                                    \
   [AGX_ISA_OP_##row] = {bind_mask,                                                                \
                         AGXS_X_##fn,                                                              \
                         0,                                                                        \
                         {AT(row, A), AT(row, B)},                                                 \
                         .mode = AT(row, COND),                                                    \
                         .imm = AT(row, NEST),                                                     \
                         .fixed = is_float}
#define JUMP(row, fn) [AGX_ISA_OP_##row] = {bind_jump, AGXS_X_##fn, .imm = AT(row, OFFSET)}
#define MEMBAR(row)   [AGX_ISA_OP_##row] = {bind_nothing, AGXS_X_membar}
#define REDUCE(row, is_simd)                                                                       \
   [AGX_ISA_OP_##row] = {bind_reduce,     AGXS_X_reduce,       AT(row, D),                         \
                         {AT(row, A)},    .mode = AT(row, OP), .flag = AT(row, PREFIX),            \
                         .fixed = is_simd}
#define MATRIX(row)                                                                                \
   [AGX_ISA_OP_##                                                                                  \
      row] = {bind_matrix, AGXS_X_matrix, AT(row, D), {AT(row, A), AT(row, B), AT(row, C)}}
#define MEMORY(row, fn, is_store)                                                                  \
   [AGX_ISA_OP_##row] = {bind_memory,                                                              \
                         AGXS_X_##fn,                                                              \
                         0,                                                                        \
                         {AT(row, R), AT(row, BASE), AT(row, INDEX), AT(row, SHIFT)},              \
                         .mode = AT(row, FORMAT),                                                  \
                         .imm = AT(row, MASK),                                                     \
                         .flag = AT(row, GROUP),                                                   \
                         .fixed = is_store}
#define LOCAL(row, fn, is_store)                                                                   \
   [AGX_ISA_OP_##row] = {bind_local,                                                               \
                         AGXS_X_##fn,                                                              \
                         0,                                                                        \
                         {AT(row, R), AT(row, BASE), AT(row, INDEX)},                              \
                         .mode = AT(row, FORMAT),                                                  \
                         .imm = AT(row, MASK),                                                     \
                         .fixed = is_store}
#define STACK(row, fn, is_store)                                                                   \
   [AGX_ISA_OP_##row] = {bind_stack,                                                               \
                         AGXS_X_##fn,                                                              \
                         0,                                                                        \
                         {AT(row, R), 0, AT(row, INDEX), AT(row, SHIFT)},                          \
                         .mode = AT(row, FORMAT),                                                  \
                         .imm = AT(row, MASK),                                                     \
                         .flag = AT(row, GROUP),                                                   \
                         .fixed = is_store}

static const struct binding bindings[AGX_ISA_OP_COUNT] = {
   [AGX_ISA_OP_LDIMM16] = {bind_int, AGXS_X_mov, AT(LDIMM16, D), {AT(LDIMM16, IMM)}},
   [AGX_ISA_OP_LDIMM32] = {bind_int, AGXS_X_mov, AT(LDIMM32, D), {AT(LDIMM32, IMM)}},
   [AGX_ISA_OP_MFSR] = {bind_mfsr, AGXS_X_mfsr, AT(MFSR, D), .imm = AT(MFSR, SR)},
   ADD(IADD, 0),
   ADD(ISUB, 1),
   [AGX_ISA_OP_IMUL] =
      {bind_add, AGXS_X_imadd, AT(IMUL, D), {AT(IMUL, A), AT(IMUL, B)}, .flag = AT(IMUL, SAT)},
   MADD(IMADD, 0),
   MADD(IMSUB, 1),
   CONVERT(U8_TO_F, int_to_f, 8, false),
   CONVERT(S8_TO_F, int_to_f, 8, true),
   CONVERT(U16_TO_F, int_to_f, 16, false),
   CONVERT(S16_TO_F, int_to_f, 16, true),
   CONVERT(U32_TO_F, int_to_f, 32, false),
   CONVERT(S32_TO_F, int_to_f, 32, true),
   CONVERT(F_TO_U16, f_to_int, 16, false),
   CONVERT(F_TO_S16, f_to_int, 16, true),
   CONVERT(F_TO_U32, f_to_int, 32, false),
   CONVERT(F_TO_S32, f_to_int, 32, true),
   SHIFT(SHL, bfi),
   SHIFT(SHR, bfeil),
   BITS3(BFI, bfi),
   BITS3(BFEIL, bfeil),
   BITS3(EXTR, extr),
   BITS3(SHLHI, shlhi),
   BITS3(SHRHI, shrhi),
   ASR(ASR, asr),
   ASR(ASRH, asrh),
   MATRIX(SIMD_MATRIX_FMADD32),
   MATRIX(SIMD_MATRIX_FMADD16),
   FLOAT3(FFMA, ffma),
   FLOAT3(HFMA, hfma),
   FLOAT2(FADD, fadd),
   FLOAT2(FMUL, fmul),
   FLOAT2(HADD, hadd),
   FLOAT2(HMUL, hmul),
   BIT1(NOT_A),
   BIT1(MOV),
   BIT1(NOT),
   BIT1(MOV_A),
   BIT2(ZERO),
   BIT2(AND),
   BIT2(ANDN1),
   BIT2(ANDN2),
   BIT2(XOR),
   BIT2(OR),
   BIT2(NOR),
   BIT2(XNOR),
   BIT2(ORN1),
   BIT2(ORN2),
   BIT2(NAND),
   BIT2(ONE),
   [AGX_ISA_OP_BITOP] = {bind_bitop,
                         AGXS_X_bitop,
                         AT(BITOP, D),
                         {AT(BITOP, A), AT(BITOP, B)},
                         .mode = AT(BITOP, TRUTH)},
   INT1(BITREV, bitrev),
   INT1(POPCNT, popcnt),
   INT1(FFS, ffs),
   INT2(INTL, intl),
   FLOAT1(FLOOR, floor),
   FLOAT1(CEIL, ceil),
   FLOAT1(TRUNC, trunc),
   FLOAT1(RINT, rint),
   FLOAT1(RCP, rcp),
   FLOAT1(RSQRT, rsqrt),
   FLOAT1(RSQRTS, rsqrts),
   FLOAT1(LOG2, log2),
   FLOAT1(EXP2, exp2),
   FLOAT1(SINR, sinr),
   FLOAT1(SINC, sinc),
   FLOAT1(DFDX, dfdx),
   FLOAT1(DFDY, dfdy),
   [AGX_ISA_OP_STOP] = {bind_end, AGXS_X_stop},
   [AGX_ISA_OP_TRAP] = {bind_end, AGXS_X_trap},
   JUMP(JMP_ANY, jmp_any),
   JUMP(JMP_NONE, jmp_none),
   JUMP(CALL, call),
   [AGX_ISA_OP_RET] = {bind_ret, AGXS_X_ret, 0, {AT(RET, TARGET)}},
   [AGX_ISA_OP_POP_EXEC] = {bind_mask, AGXS_X_pop_exec, .imm = AT(POP_EXEC, NEST)},
   [AGX_ISA_OP_UPDATE_EXEC] = {bind_mask, AGXS_X_pop_exec},
   MASK(IF_ICMP, if_icmp, 0),
   MASK(ELSE_ICMP, else_icmp, 0),
   MASK(WHILE_ICMP, while_icmp, 0),
   MASK(IF_FCMP, if_fcmp, 1),
   MASK(ELSE_FCMP, else_fcmp, 1),
   MASK(WHILE_FCMP, while_fcmp, 1),
   SELECT(ICSEL, icsel, 0),
   SELECT(FCSEL, fcsel, 1),
   [AGX_ISA_OP_BALLOT] = {bind_ballot, AGXS_X_icmp_ballot, AT(BALLOT, D)},
   BALLOT(ICMP_BALLOT, icmp_ballot, 0),
   BALLOT(FCMP_BALLOT, fcmp_ballot, 1),
   [AGX_ISA_OP_SHUFFLE] = {bind_shuffle,
                           AGXS_X_shuffle,
                           AT(SHUFFLE, D),
                           {AT(SHUFFLE, A), AT(SHUFFLE, B)},
                           .mode = AT(SHUFFLE, OP),
                           .flag = AT(SHUFFLE, ROTATE)},
   REDUCE(QUAD, 0),
   REDUCE(SIMD, 1),
   [AGX_ISA_OP_WAIT] = {bind_wait, AGXS_X_wait, .imm = AT(WAIT, GROUP)},
   MEMORY(LOAD, load, 0),
   MEMORY(STORE, store, 1),
   [AGX_ISA_OP_ATOMIC] = {bind_atomic,
                          AGXS_X_atomic,
                          AT(ATOMIC, R),
                          {AT(ATOMIC, S), AT(ATOMIC, BASE), AT(ATOMIC, INDEX)},
                          .mode = AT(ATOMIC, OP),
                          .flag = AT(ATOMIC, GROUP)},
   LOCAL(LLOAD, lload, 0),
   LOCAL(LSTORE, lstore, 1),
   [AGX_ISA_OP_LATOMIC] = {bind_atomic,
                           AGXS_X_latomic,
                           AT(LATOMIC, R),
                           {AT(LATOMIC, S), AT(LATOMIC, BASE), AT(LATOMIC, INDEX)},
                           .mode = AT(LATOMIC, OP)},
   STACK(STACK_LOAD, stack_load, 0),
   STACK(STACK_STORE, stack_store, 1),
   [AGX_ISA_OP_STACK_ADJUST] = {bind_stack_adjust,
                                AGXS_X_stack_adjust,
                                0,
                                {0, 0, AT(STACK_ADJUST, INDEX)}},
   [AGX_ISA_OP_UNIFORM_STORE] = {bind_uniform_store,
                                 AGXS_X_uniform_store,
                                 AT(UNIFORM_STORE, U),
                                 {AT(UNIFORM_STORE, R)}},
   [AGX_ISA_OP_BARRIER] = {bind_barrier, AGXS_X_barrier},
   MEMBAR(MEMORY_BARRIER),
   MEMBAR(IMAGE_BARRIER_1),
   MEMBAR(IMAGE_BARRIER_2),
   MEMBAR(IMAGE_BARRIER_3),
   MEMBAR(IMAGE_BARRIER_4),
   MEMBAR(FLUSH_MEMORY_TO_TEXTURE),
   MEMBAR(MEMORY_BARRIER_2),
   MEMBAR(MEMORY_BARRIER_3),
   MEMBAR(UNKNOWN_BARRIER_1),
   MEMBAR(UNKNOWN_BARRIER_2),
   MEMBAR(DEVICE_BARRIER_1),
   MEMBAR(DEVICE_BARRIER_2),
   MEMBAR(MEMBAR),
};

static bool is_plain(const struct agxs_uop *uop)
{
   bool plain = uop->dst.bits == 32 && !uop->saturate;
   for (unsigned i = 0; i < AGXS_MAX_SOURCES; i++)
      plain &= uop->src[i].right == 0 && uop->src[i].bits != 64;
   return plain;
}

void agxs_bind(struct agxs_kernel *kernel, const struct agx_isa_instr *instr, uint32_t pc,
               struct agxs_bound *out)
{
   *out = (struct agxs_bound){.kernel = kernel, .instr = instr};
   const struct binding *binding = &bindings[instr->op];
   if (binding->bind) {
      out->uop.exec_index = binding->exec;
      out->uop.unit = agx_isa_info(instr->op)->unit;
      binding->bind(out, binding);
   } else {
      refuse(out, AGX_UNIMPLEMENTED, "this instruction is not modelled");
   }
   out->uop.is_plain = is_plain(&out->uop);
   if (out->jumps) {
      out->target_pc += pc;
      out->uop.imm = (int64_t)pc + instr->length; /* what a call leaves in r1 */
      if (out->target_pc < 0 || out->target_pc > UINT32_MAX)
         refuse(out, AGX_INVALID_ARGUMENT, "the jump leaves the 4 GiB window of code");
   }
   if (out->refusal) {
      out->uop =
         (struct agxs_uop){.exec_index = AGXS_X_refuse, .imm = out->code, .reason = out->refusal};
      out->ends = true;
      out->jumps = false;
   }
}
