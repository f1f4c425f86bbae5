/* SPDX-License-Identifier: MIT */
#include "agx/sim/bind.h"

#include "agx/sim/bind_impl.h"
#include "agx/sim/format.h"
#include "base/util.h"

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
void agxs_bind_int(struct agxs_bound *bound, const struct agxs_binding *binding)
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
void agxs_bind_bitop(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   agxs_bind_int(bound, binding);
   uint8_t *mode = &bound->uop.mode;
   if (*mode == AGX_ISA_TRUTH_MOV_A || *mode == AGX_ISA_TRUTH_NOT_A)
      *mode = AGX_ISA_TRUTH_MOV;
   if (*mode == AGX_ISA_TRUTH_MOV)
      bound->uop.exec_index = AGXS_X_mov;
}

/* iadd and imadd: which form follows from sizes. exec is the plain one; the 64-bit
 * and the saturating follow it in the list. */
void agxs_bind_add(struct agxs_bound *bound, const struct agxs_binding *binding)
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
void agxs_bind_asr(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   set_dest(bound, operand_at(bound, binding->d), 1);
   set_source(bound, 0, binding->src[0], false, true);
   set_source(bound, 1, binding->src[1], false, false);
}

void agxs_bind_float(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   set_dest(bound, operand_at(bound, binding->d), 1);
   for (unsigned i = 0; i < 3 && binding->src[i]; i++)
      set_source(bound, i, binding->src[i], true, false);
   bound->uop.saturate = number_at(bound, binding->flag) != 0;
}

void agxs_bind_round(struct agxs_bound *bound, const struct agxs_binding *binding)
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
static void set_int_condition(struct agxs_bound *bound, const struct agxs_binding *binding)
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

static void set_float_condition(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   unsigned condition = binding->mode ? (unsigned)number_at(bound, binding->mode) : 0;
   bound->uop.invert = condition >> 3 & 1;
   bound->uop.mode = condition & 7;
   if ((condition & 7) == 4)
      refuse(bound, AGX_UNIMPLEMENTED, "this float condition is unknown");
   set_source(bound, 0, binding->src[0], true, false);
   set_source(bound, 1, binding->src[1], true, false);
}

/* What an else without a condition looks like; an immediate is never a NaN. */
static bool is_always(const struct agxs_bound *bound, const struct agxs_binding *binding)
{
   const struct agx_isa_operand *a = operand_at(bound, binding->src[0]);
   const struct agx_isa_operand *b = operand_at(bound, binding->src[1]);
   bool is_constant = a->kind == AGX_ISA_IMM || a->kind == AGX_ISA_FIMM;
   return is_constant && b->kind == a->kind && b->value == a->value && !a->abs && !b->abs &&
          !a->neg && !b->neg && !bound->uop.invert &&
          bound->uop.mode == (binding->fixed ? (unsigned)AGX_ISA_FCOND_FEQ : AGX_ISA_ICOND_IEQ);
}

static void set_condition(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   if (binding->fixed) /* float */
      set_float_condition(bound, binding);
   else
      set_int_condition(bound, binding);
   bound->uop.is_always = is_always(bound, binding);
}

void agxs_bind_select(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   set_dest(bound, operand_at(bound, binding->d), 1);
   set_condition(bound, binding);
   set_source(bound, 2, binding->src[2], false, false);
   set_source(bound, 3, binding->src[3], false, false);
}

void agxs_bind_ballot(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   set_dest(bound, operand_at(bound, binding->d), 1);
   set_condition(bound, binding);
   bound->uop.window = binding->flag ? number_at(bound, binding->flag) : true;
}

/* if, else, while; and what has no condition at all: pop_exec and update_exec. */
void agxs_bind_mask(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   const struct agx_isa_operand counter = {.kind = AGX_ISA_REG, .bits = 16, .count = 1};
   check_register(bound, &counter, 1, false);
   check_register(bound, &counter, 1, true);
   bound->uop.nest = (uint8_t)number_at(bound, binding->imm);
   if (binding->src[0])
      set_condition(bound, binding);
}

static void set_link(struct agxs_bound *bound)
{
   const struct agx_isa_operand link = {.kind = AGX_ISA_REG, .bits = 32, .count = 1, .value = 2};
   set_dest(bound, &link, 1);
}

void agxs_bind_jump(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   bound->jumps = true;
   bound->target_pc = number_at(bound, binding->imm);
   if (binding->exec == AGXS_X_call)
      set_link(bound);
}

void agxs_bind_call_reg(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   set_source(bound, 0, binding->src[0], false, false);
   set_link(bound);
   bound->links = true;
   bound->stack_words = AGXS_MAX_STACK_WORDS; /* what the function takes is not known here */
}

void agxs_bind_ret(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   set_source(bound, 0, binding->src[0], false, false);
   bound->ends = true;
}

void agxs_bind_end(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   bound->ends = true;
}

void agxs_bind_nothing(struct agxs_bound *bound, const struct agxs_binding *binding) {}

/* What decodes, but stops who reaches it; reference/unknowns.md says which. */
void agxs_bind_unknown(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   refuse(bound, AGX_UNIMPLEMENTED, "no source says what this instruction does");
}

void agxs_bind_helper(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   refuse(bound, AGX_UNIMPLEMENTED, "only the helper program does this, and there is none");
}

void agxs_bind_render(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   refuse(bound, AGX_UNIMPLEMENTED, "only vertex and fragment programs have what this works on");
}

void agxs_bind_barrier(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   if (bound->kernel->request.is_preamble)
      refuse(bound, AGX_INVALID_ARGUMENT, "a preamble is no workgroup");
}

/* fixed: enum agxs_membar. */
void agxs_bind_membar(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   bound->uop.mode = binding->fixed;
}

void agxs_bind_wait(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   bound->uop.group = (uint8_t)number_at(bound, binding->imm) & 1;
}

/* Special registers of compute; those that are the workgroup's are not a preamble's. */
void agxs_bind_mfsr(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   int64_t number = number_at(bound, binding->imm);
   bool is_local = number < AGX_ISA_SR_THREADGROUP_WIDTH ||
                   (number >= AGX_ISA_SR_THREAD_IN_THREADGROUP_X &&
                    number <= AGX_ISA_SR_SIMDGROUP_INDEX_IN_THREADGROUP) ||
                   (number >= AGX_ISA_SR_THREAD_IN_GRID_X && number <= AGX_ISA_SR_THREAD_IN_GRID_Z);
   /* The dispatch's own size is the same for all threads. [U] */
   bool is_size = number >= AGX_ISA_SR_DISPATCH_THREADS_PER_THREADGROUP_X &&
                  number <= AGX_ISA_SR_DISPATCH_THREADS_PER_THREADGROUP_Z;
   bool is_known = (is_local && number != 3 && number != 7 && number != 11) ||
                   (number >= AGX_ISA_SR_ACTIVE_THREAD_INDEX_IN_QUADGROUP &&
                    number <= AGX_ISA_SR_TOTAL_ACTIVE_THREADS_IN_SIMDGROUP) ||
                   number == AGX_ISA_SR_IS_ACTIVE_THREAD || number == AGX_ISA_SR_CORE_INDEX ||
                   number == AGX_ISA_SR_VM_SLOT;
   if (!is_known)
      refuse(bound, AGX_UNIMPLEMENTED, "this special register is not modelled");
   else if (is_local && !is_size && bound->kernel->request.is_preamble &&
            bound->kernel->request.check)
      refuse(bound, AGX_FAILED_PRECONDITION,
             "check: a preamble has no thread position or workgroup");
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
   if (number == AGX_ISA_FORMAT_F16 && operand->bits == 32)
      bound->uop.format = AGXS_FORMAT_F16_WIDE;
   if (number == AGX_ISA_FORMAT_I32 && operand->bits != 32)
      refuse(bound, AGX_INVALID_ARGUMENT, "format i32 needs 32-bit registers");
   unsigned elements =
      format->channels ? format->channels : (unsigned)__builtin_popcount(bound->uop.mask);
   if (is_write)
      set_dest(bound, operand, elements);
   else
      set_register(bound, operand, &bound->uop.src[0], elements);
}

/* fixed: 1 for a store. src: register vector, base, index, shift; flag: the group;
 * mode: format; imm: mask. */
void agxs_bind_memory(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   int64_t shift = number_at(bound, binding->src[3]);
   bound->uop.shift = shift > 2 ? 2 : (uint8_t)shift;
   set_vector(bound, binding->src[0], binding->mode, binding->imm, !binding->fixed);
   if (binding->src[1])
      set_source(bound, 1, binding->src[1], false, false);
   set_index(bound, binding->src[2]);
   if (binding->coherency)
      bound->uop.is_coherent = number_at(bound, binding->coherency) != AGX_ISA_COHERENT_INCOHERENT;
   if (binding->flag) {
      bound->uop.group = (uint8_t)number_at(bound, binding->flag) & 1;
      bound->async_group = bound->uop.group + 1;
   }
}

void agxs_bind_stack(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   agxs_bind_memory(bound, binding);
   if (bound->uop.format > AGX_ISA_FORMAT_I32)
      refuse(bound, AGX_UNIMPLEMENTED, "this format is not known to work on the stack");
}

static void refuse_workgroup(struct agxs_bound *bound)
{
   const struct agxs_kernel_request *request = &bound->kernel->request;
   if (request->is_preamble && request->check)
      refuse(bound, AGX_FAILED_PRECONDITION, "check: a preamble has no threadgroup memory");
}

void agxs_bind_local(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   refuse_workgroup(bound);
   agxs_bind_memory(bound, binding);
}

void agxs_bind_atomic(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   const struct agx_isa_operand *data = operand_at(bound, binding->src[0]);
   bound->uop.mode = (uint8_t)number_at(bound, binding->mode);
   if (bound->uop.mode > AGX_ISA_ATOMIC_XOR)
      refuse(bound, AGX_UNIMPLEMENTED, "this atomic operation is unknown");
   if (!binding->flag) /* latomic has no group */
      refuse_workgroup(bound);
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

void agxs_bind_stack_adjust(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   set_index(bound, binding->src[2]);
   if (bound->uop.has_index) /* any amount */
      bound->stack_words = AGXS_MAX_STACK_WORDS;
   else if (bound->uop.imm > 0)
      bound->stack_words = (uint32_t)bound->uop.imm;
}

void agxs_bind_uniform_store(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   const struct agx_isa_operand *to = operand_at(bound, binding->d);
   const struct agx_isa_operand *from = operand_at(bound, binding->src[0]);
   unsigned halves = AGX_MAX(to->count, 1) * (to->bits / 16u);
   if (!bound->kernel->request.is_preamble)
      refuse(bound, AGX_INVALID_ARGUMENT, "only a preamble stores uniforms");
   struct agx_isa_operand data = *from;
   data.bits = 16, data.count = (uint8_t)halves;
   bound->uop.imm = to->value;
   bound->uop.mask = (uint8_t)((1u << halves) - 1);
   set_register(bound, &data, &bound->uop.src[0], halves);
}

/* The general form: element i goes to uniform half index + i where bit i of the mask is
 * set. Source: reference/isa isa.md 10. */
void agxs_bind_uniform_store_raw(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   const struct agx_isa_operand *data = operand_at(bound, binding->src[0]);
   if (!bound->kernel->request.is_preamble)
      refuse(bound, AGX_INVALID_ARGUMENT, "only a preamble stores uniforms");
   if (number_at(bound, binding->mode) != AGX_ISA_FORMAT_I16 || data->bits != 16)
      refuse(bound, AGX_UNIMPLEMENTED, "uniforms are stored from 16-bit registers as i16 only");
   if (number_at(bound, binding->src[3]))
      refuse(bound, AGX_UNIMPLEMENTED, "what a shift does to a uniform's number is unknown");
   bound->uop.mask = (uint8_t)number_at(bound, binding->imm) & 15;
   set_register(bound, data, &bound->uop.src[0], (unsigned)__builtin_popcount(bound->uop.mask));
   set_index(bound, binding->src[2]);
}

void agxs_bind_shuffle(struct agxs_bound *bound, const struct agxs_binding *binding)
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

void agxs_bind_reduce(struct agxs_bound *bound, const struct agxs_binding *binding)
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

void agxs_bind_matrix(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   const struct agx_isa_operand *d = operand_at(bound, binding->d);
   set_dest(bound, d, 2);
   for (unsigned i = 0; i < 3; i++) {
      const struct agx_isa_operand *source = operand_at(bound, binding->src[i]);
      int64_t end = source->value + 2 * source->bits / 16;
      if (i < 2 && source->value < d->value + 2 * d->bits / 16 && d->value < end)
         refuse(bound, AGX_INVALID_ARGUMENT, "the destination overlaps a or b");
      set_source(bound, i, binding->src[i], true, false);
   }
}

static bool modifies(const struct agxs_uop *uop)
{
   bool any = false;
   for (unsigned i = 0; i < AGXS_MAX_SOURCES; i++)
      any |= uop->src[i].bits && (uop->src[i].keep != ~0u || uop->src[i].flip);
   return any;
}

void agxs_bound_refuse(struct agxs_bound *bound, agx_status code, const char *reason)
{
   refuse(bound, code, reason);
}

void agxs_bound_dest(struct agxs_bound *bound, uint8_t at, unsigned elements)
{
   set_dest(bound, operand_at(bound, at), elements);
}

void agxs_bound_source(struct agxs_bound *bound, const struct agx_isa_operand *operand,
                       unsigned elements, struct agxs_source *out)
{
   struct agxs_constant constant = {
      .bits = operand->bits ? operand->bits : 16,
      .keep = ~0u,
      .is_uniform = operand->kind == AGX_ISA_UNIFORM,
   };
   *out = (struct agxs_source){.keep = ~0u};
   if (operand->kind == AGX_ISA_REG)
      set_register(bound, operand, out, elements);
   else
      set_constant(bound, operand, out, constant);
}

static bool reads_plain(const struct agxs_uop *uop)
{
   bool plain = true;
   for (unsigned i = 0; i < AGXS_MAX_SOURCES; i++)
      plain &= uop->src[i].right == 0 && uop->src[i].bits != 64;
   return plain;
}

void agxs_bind(struct agxs_kernel *kernel, const struct agx_isa_instr *instr, uint32_t pc,
               struct agxs_bound *out)
{
   *out = (struct agxs_bound){.kernel = kernel, .instr = instr};
   const struct agxs_binding *binding = &agxs_bindings[instr->op];
   if (binding->bind) {
      out->uop.exec_index = binding->exec;
      out->uop.unit = agx_isa_info(instr->op)->unit;
      binding->bind(out, binding);
   } else {
      refuse(out, AGX_UNIMPLEMENTED, "this instruction is not modelled");
   }
   out->uop.reads_plain = reads_plain(&out->uop);
   out->uop.modifies = modifies(&out->uop);
   out->uop.is_plain = out->uop.reads_plain && out->uop.dst.bits == 32 && !out->uop.saturate;
   if (out->jumps || out->links)
      out->uop.imm = (int64_t)pc + instr->length; /* what a call leaves in r1 */
   if (out->jumps)
      out->target_pc += pc;
   if (out->refusal) {
      out->uop =
         (struct agxs_uop){.exec_index = AGXS_X_refuse, .imm = out->code, .reason = out->refusal};
      out->ends = true;
      out->jumps = false;
   }
}
