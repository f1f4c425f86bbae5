/* SPDX-License-Identifier: MIT
 *
 * How decoded instructions become uops: one function for each kind of instruction, which
 * bind_table.c names by opcode. kernel.c calls agxs_bind() for every instruction that it
 * decodes.
 */
#include "agx/sim/machine/bind_impl.h"

#include "base/util.h"

/* Integer operation: mode, flag and imm as the table says. */
void agxs_bind_int(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   agxs_bound_dest(bound, agxs_bound_operand(bound, binding->d), 1);
   for (unsigned i = 0; i < 4; i++) {
      if (binding->src[i] || i < 3)
         agxs_bound_set(bound, i, binding->src[i], false, binding->is_signed);
   }
   bound->uop.imm = agxs_bound_number(bound, binding->imm);
   bound->uop.mode =
      binding->mode ? (uint8_t)agxs_bound_number(bound, binding->mode) : binding->fixed;
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
   agxs_bound_dest(bound, agxs_bound_operand(bound, binding->d), 1);
   for (unsigned i = 0; i < 3; i++)
      agxs_bound_set(bound, i, binding->src[i], false,
                     agxs_bound_operand(bound, binding->src[i])->sx);
   uop->negate = binding->fixed;
   uop->shift = (uint8_t)agxs_bound_number(bound, binding->imm);
   bool is_multiply = binding->exec == AGXS_X_imadd;
   bool is_wide =
      is_multiply ? uop->src[2].bits == 64 : uop->src[0].bits == 64 || uop->src[1].bits == 64;
   /* Saturation is silently off with a shift or any 64-bit operand. */
   uop->saturate =
      agxs_bound_number(bound, binding->flag) && uop->shift == 0 && uop->dst.bits <= 32 && !is_wide;
   if (uop->dst.bits == 64)
      uop->exec_index = is_multiply ? AGXS_X_imadd64 : AGXS_X_iadd64;
   else if (uop->saturate)
      uop->exec_index = is_multiply ? AGXS_X_imadd_sat : AGXS_X_iadd_sat;
}

/* asr and asrh take a from its own size; b and the rest are plain. */
void agxs_bind_asr(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   agxs_bound_dest(bound, agxs_bound_operand(bound, binding->d), 1);
   agxs_bound_set(bound, 0, binding->src[0], false, true);
   agxs_bound_set(bound, 1, binding->src[1], false, false);
}

void agxs_bind_float(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   agxs_bound_dest(bound, agxs_bound_operand(bound, binding->d), 1);
   for (unsigned i = 0; i < 3 && binding->src[i]; i++)
      agxs_bound_set(bound, i, binding->src[i], true, false);
   bound->uop.saturate = agxs_bound_number(bound, binding->flag) != 0;
}

void agxs_bind_round(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   bound->uop.mode = (uint8_t)agxs_bound_number(bound, binding->mode);
   if (bound->uop.mode > AGX_ISA_ROUND_RTE)
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED, "this rounding mode is unknown");
   agxs_bound_dest(bound, agxs_bound_operand(bound, binding->d), 1);
   agxs_bound_set(bound, 0, binding->src[0], binding->exec == AGXS_X_f_to_int, false);
   bound->uop.count = binding->fixed;
   bound->uop.is_signed = binding->is_signed;
}

/* Conditions: bit 3 inverts where the instruction has it; 4..7 are signed. */
static void set_int_condition(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   unsigned condition = binding->mode ? (unsigned)agxs_bound_number(bound, binding->mode) : 0;
   bool is_signed = condition & 4;
   bound->uop.invert = condition >> 3 & 1;
   bound->uop.mode = condition & 7;
   if ((condition & 3) == 3)
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED, "this integer condition is unknown");
   agxs_bound_set(bound, 0, binding->src[0], false, is_signed);
   agxs_bound_set(bound, 1, binding->src[1], false, is_signed);
}

static void set_float_condition(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   unsigned condition = binding->mode ? (unsigned)agxs_bound_number(bound, binding->mode) : 0;
   bound->uop.invert = condition >> 3 & 1;
   bound->uop.mode = condition & 7;
   if ((condition & 7) == 4)
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED, "this float condition is unknown");
   agxs_bound_set(bound, 0, binding->src[0], true, false);
   agxs_bound_set(bound, 1, binding->src[1], true, false);
}

/* What an else without a condition looks like; an immediate is never a NaN. */
static bool is_always(const struct agxs_bound *bound, const struct agxs_binding *binding)
{
   const struct agx_isa_operand *a = agxs_bound_operand(bound, binding->src[0]);
   const struct agx_isa_operand *b = agxs_bound_operand(bound, binding->src[1]);
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
   agxs_bound_dest(bound, agxs_bound_operand(bound, binding->d), 1);
   set_condition(bound, binding);
   agxs_bound_set(bound, 2, binding->src[2], false, false);
   agxs_bound_set(bound, 3, binding->src[3], false, false);
}

void agxs_bind_ballot(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   agxs_bound_dest(bound, agxs_bound_operand(bound, binding->d), 1);
   set_condition(bound, binding);
   bound->uop.window = binding->flag ? agxs_bound_number(bound, binding->flag) : true;
}

/* if, else, while; and what has no condition at all: pop_exec and update_exec. */
void agxs_bind_mask(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   const struct agx_isa_operand counter = {.kind = AGX_ISA_REG, .bits = 16, .count = 1};
   agxs_bound_registers(bound, &counter, 1, false);
   agxs_bound_registers(bound, &counter, 1, true);
   bound->uop.nest = (uint8_t)agxs_bound_number(bound, binding->imm);
   if (binding->src[0])
      set_condition(bound, binding);
}

static void set_link(struct agxs_bound *bound)
{
   const struct agx_isa_operand link = {.kind = AGX_ISA_REG, .bits = 32, .count = 1, .value = 2};
   agxs_bound_dest(bound, &link, 1);
}

void agxs_bind_jump(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   bound->jumps = true;
   bound->target_pc = agxs_bound_number(bound, binding->imm);
   if (binding->exec == AGXS_X_call)
      set_link(bound);
}

void agxs_bind_call_reg(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   agxs_bound_set(bound, 0, binding->src[0], false, false);
   set_link(bound);
   bound->links = true;
   bound->stack_words = AGXS_MAX_STACK_WORDS; /* what the function takes is not known here */
}

void agxs_bind_ret(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   agxs_bound_set(bound, 0, binding->src[0], false, false);
   bound->ends = true;
}

void agxs_bind_end(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   bound->ends = true;
}

void agxs_bind_nothing(struct agxs_bound *bound, const struct agxs_binding *binding) {}

/* What decodes, but stops who reaches it; docs/hw/unknowns.md says which. */
void agxs_bind_unknown(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   agxs_bound_refuse(bound, AGX_UNIMPLEMENTED, "no source says what this instruction does");
}

/* Only a helper program has doorbells and blocks of stack. */
static bool refuse_outside_helper(struct agxs_bound *bound)
{
   if (!bound->kernel->request.is_helper)
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED,
                        "only the helper program of a submission does this");
   return !bound->kernel->request.is_helper;
}

void agxs_bind_doorbell(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   if (!refuse_outside_helper(bound))
      bound->uop.imm = agxs_bound_number(bound, binding->imm);
}

/* A kernel's doorbells are skipped. [U-run-12] A helper program's are where no lane runs, as in the
 * arm of a condition that known ones execute under the mask: there an answer must not be given. */
void agxs_bind_doorbell_jump(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   agxs_bind_jump(bound, binding);
   if (bound->kernel->request.is_helper)
      bound->uop.exec_index = AGXS_X_jmp_none;
}

/* map and unmap; which block: the immediate. */
void agxs_bind_block(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   if (refuse_outside_helper(bound))
      return;
   bound->uop.imm = agxs_bound_number(bound, binding->imm);
   if (binding->d)
      agxs_bound_dest(bound, agxs_bound_operand(bound, binding->d), 1);
   else
      agxs_bound_set(bound, 0, binding->src[0], false, false);
}

void agxs_bind_render(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   agxs_bound_refuse(bound, AGX_UNIMPLEMENTED,
                     "only vertex and fragment programs have what this works on");
}

void agxs_bind_barrier(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   if (bound->kernel->request.is_preamble)
      agxs_bound_refuse(bound, AGX_INVALID_ARGUMENT, "a preamble is no workgroup");
   if (bound->kernel->request.is_helper)
      agxs_bound_refuse(bound, AGX_INVALID_ARGUMENT, "a helper program is no workgroup");
}

/* fixed: enum agxs_membar. */
void agxs_bind_membar(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   bound->uop.mode = binding->fixed;
}

void agxs_bind_wait(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   bound->uop.group = (uint8_t)agxs_bound_number(bound, binding->imm) & 1;
}

/* Special registers of compute; those that are the workgroup's are not a preamble's. */
void agxs_bind_mfsr(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   int64_t number = agxs_bound_number(bound, binding->imm);
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
                   number == AGX_ISA_SR_VM_SLOT ||
                   (bound->kernel->request.is_helper &&
                    (number == AGX_ISA_SR_HELPER_OP || number == AGX_ISA_SR_HELPER_ARG_L ||
                     number == AGX_ISA_SR_HELPER_ARG_H));
   if (!is_known)
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED, "this special register is not modelled");
   else if (is_local && !is_size && bound->kernel->request.is_preamble &&
            bound->kernel->request.check)
      agxs_bound_refuse(bound, AGX_FAILED_PRECONDITION,
                        "check: a preamble has no thread position or workgroup");
   bound->uop.imm = number;
   agxs_bound_dest(bound, agxs_bound_operand(bound, binding->d), 1);
}

void agxs_bind_shuffle(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   struct agxs_uop *uop = &bound->uop;
   agxs_bound_dest(bound, agxs_bound_operand(bound, binding->d), 1);
   agxs_bound_set(bound, 0, binding->src[0], false, false);
   agxs_bound_set(bound, 1, binding->src[1], false, false);
   uop->mode = (uint8_t)agxs_bound_number(bound, binding->mode);
   uop->window = agxs_bound_number(bound, AGX_ISA_SHUFFLE_WINDOW + 1) != 0;
   uop->prefix = agxs_bound_number(bound, binding->flag) != 0;
   if (uop->prefix && uop->mode != AGX_ISA_SHUFFLE_OP_UP)
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED, "rotation is only known for op=up");
}

void agxs_bind_reduce(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   static const uint32_t known =
      1u << AGX_ISA_SUBOP_AND | 1u << AGX_ISA_SUBOP_FADD | 1u << AGX_ISA_SUBOP_OR |
      1u << AGX_ISA_SUBOP_FMUL | 1u << AGX_ISA_SUBOP_XOR | 1u << AGX_ISA_SUBOP_FMIN |
      1u << AGX_ISA_SUBOP_FMAX | 1u << AGX_ISA_SUBOP_IADD | 1u << AGX_ISA_SUBOP_SMIN |
      1u << AGX_ISA_SUBOP_SMAX | 1u << AGX_ISA_SUBOP_UMIN | 1u << AGX_ISA_SUBOP_UMAX;
   struct agxs_uop *uop = &bound->uop;
   const struct agx_isa_operand *source = agxs_bound_operand(bound, binding->src[0]);
   int64_t op = agxs_bound_number(bound, binding->mode);
   if (op > 31 || !(known >> op & 1)) {
      agxs_bound_refuse(bound, AGX_UNIMPLEMENTED, "this reduction is unknown");
      return;
   }
   bool is_float = op < AGX_ISA_SUBOP_IADD && op & 1;
   bool is_signed = op == AGX_ISA_SUBOP_SMIN || op == AGX_ISA_SUBOP_SMAX;
   agxs_bound_dest(bound, agxs_bound_operand(bound, binding->d), 1);
   agxs_bound_set(bound, 0, binding->src[0], is_float, is_signed);
   uop->mode = (uint8_t)op;
   uop->prefix = agxs_bound_number(bound, binding->flag) != 0;
   uop->window = binding->fixed;
   uop->count =
      source->kind == AGX_ISA_REG || source->kind == AGX_ISA_UNIFORM ? source->bits : uop->dst.bits;
}

void agxs_bind_matrix(struct agxs_bound *bound, const struct agxs_binding *binding)
{
   const struct agx_isa_operand *d = agxs_bound_operand(bound, binding->d);
   agxs_bound_dest(bound, d, 2);
   for (unsigned i = 0; i < 3; i++) {
      const struct agx_isa_operand *source = agxs_bound_operand(bound, binding->src[i]);
      int64_t end = source->value + 2 * source->bits / 16;
      if (i < 2 && source->value < d->value + 2 * d->bits / 16 && d->value < end)
         agxs_bound_refuse(bound, AGX_INVALID_ARGUMENT, "the destination overlaps a or b");
      agxs_bound_set(bound, i, binding->src[i], true, false);
   }
}

static bool modifies(const struct agxs_uop *uop)
{
   bool any = false;
   for (unsigned i = 0; i < AGXS_MAX_SOURCES; i++)
      any |= uop->src[i].bits && (uop->src[i].keep != ~0u || uop->src[i].flip);
   return any;
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
      agxs_bound_refuse(out, AGX_UNIMPLEMENTED, "this instruction is not modelled");
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
