/* SPDX-License-Identifier: MIT
 *
 * Selection: generic operations become machine instructions (isa.def).
 * Before: generic operations in SSA. After: machine instructions in SSA, and MOV, PHI, COLLECT,
 * SPLIT, BREAK, CONTINUE and RETURN, whose operands are values only. Booleans have become 16-bit 0
 * or 1, and 8-bit values 16-bit ones whose upper half is undefined.
 *
 *    before   %2 = ult %0, %1     branch %2     %3 = ishl %0, #2     %4 = load_global u2, %3
 *    after    agx.if_icmp %0, %1                %4 = agx.load u2, %0
 *
 * Stands behind all passes over generic operations, since a machine instruction may do what
 * several of them do and their passes could not look into it, and in front of scheduling and
 * register allocation, which need to know instructions, latencies and operands. The opt_dce behind
 * it removes what only fused operations used. A constant that a phi takes beside a load is made in
 * front of the if. Conversions go into operands: integer sources extend by zeros, sums, products
 * and signed compares by signs, float sources widen halves, float results round to them, stores
 * cut.
 */
#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/select/select.h"
#include "agx/compiler/select/select_impl.h"

/* ---- system values ---------------------------------------------------- */

static void select_sysval(struct agxc_selector *s, const struct agxc_instr *instr)
{
   static const uint8_t registers[AGXC_SYSVAL_COUNT] = {
      [AGXC_SYSVAL_WORKGROUP_ID + 0] = AGX_ISA_SR_THREADGROUP_IN_GRID_X,
      [AGXC_SYSVAL_WORKGROUP_ID + 1] = AGX_ISA_SR_THREADGROUP_IN_GRID_Y,
      [AGXC_SYSVAL_WORKGROUP_ID + 2] = AGX_ISA_SR_THREADGROUP_IN_GRID_Z,
      [AGXC_SYSVAL_LOCAL_ID + 0] = AGX_ISA_SR_THREAD_IN_THREADGROUP_X,
      [AGXC_SYSVAL_LOCAL_ID + 1] = AGX_ISA_SR_THREAD_IN_THREADGROUP_Y,
      [AGXC_SYSVAL_LOCAL_ID + 2] = AGX_ISA_SR_THREAD_IN_THREADGROUP_Z,
      [AGXC_SYSVAL_GLOBAL_ID + 0] = AGX_ISA_SR_THREAD_IN_GRID_X,
      [AGXC_SYSVAL_GLOBAL_ID + 1] = AGX_ISA_SR_THREAD_IN_GRID_Y,
      [AGXC_SYSVAL_GLOBAL_ID + 2] = AGX_ISA_SR_THREAD_IN_GRID_Z,
      [AGXC_SYSVAL_LOCAL_INDEX] = AGX_ISA_SR_THREAD_INDEX_IN_THREADGROUP,
      [AGXC_SYSVAL_SUBGROUP_LANE] = AGX_ISA_SR_THREAD_INDEX_IN_SIMDGROUP,
      [AGXC_SYSVAL_SUBGROUP_ID] = AGX_ISA_SR_SIMDGROUP_INDEX_IN_THREADGROUP,
   };
   struct agxc_instr *machine =
      agxc_select_instr(s, AGX_ISA_OP_MFSR, agxc_select_dest(instr), 0, NULL);
   agxc_set_machine_sr(machine, registers[agxc_imm_sysval(instr)]);
}

/* A preamble's result. */
static void select_store_uniform(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref data = agxc_select_reg(s, *agxc_src_data(instr));
   struct agxc_ref uniform = agxc_uniform(agxc_imm_half(instr), data.bits, 1);
   agxc_select_op(s, AGX_ISA_OP_UNIFORM_STORE, uniform, data);
}

/* ---- moves ------------------------------------------------------------ */

static void select_mov(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref src = *agxc_src_a(instr), dest = agxc_select_dest(instr);
   if (dest.bits == 64) {
      /* No instruction moves 64 bits: the words are named anew. */
      struct agxc_instr *copy = agxc_instr_new_n(s->shader, AGXC_OP_COLLECT, 1, 1);
      *agxc_dest(copy) = dest;
      *agxc_element(copy, 0) = agxc_select_reg(s, src);
      dest.value->def = copy;
      agxc_insert(&s->at, copy);
      return;
   }
   if (src.kind == AGXC_IMM) {
      bool half = dest.bits == 16;
      struct agxc_instr *machine =
         agxc_select_instr(s, half ? AGX_ISA_OP_LDIMM16 : AGX_ISA_OP_LDIMM32, dest, 0, NULL);
      agxc_set_machine_imm(machine, src.imm);
      return;
   }
   src = agxc_select_int(s, src);
   agxc_select_op(s, AGX_ISA_OP_MOV, dest, src);
}

/* COLLECT, SPLIT and control stay; their operands become values of machine width. */
static void keep(struct agxc_selector *s, struct agxc_instr *instr)
{
   agx_list_remove(&instr->link);
   agxc_foreach_src (src, instr)
      *src = agxc_select_reg(s, *src);
   agxc_foreach_dest (dest, instr)
      *dest = agxc_use(dest->value);
   agxc_insert(&s->at, instr);
}

/* Words of 64 bits and halves of 32 are neighbouring registers. */
static void select_pack(struct agxc_selector *s, const struct agxc_instr *instr)
{
   bool packs = instr->op == AGXC_OP_PACK64 || instr->op == AGXC_OP_PACK32;
   struct agxc_instr *copy = agxc_instr_new_n(s->shader, packs ? AGXC_OP_COLLECT : AGXC_OP_SPLIT,
                                              instr->dest_count, instr->src_count);
   for (unsigned i = 0; i < instr->dest_count; i++) {
      agxc_dests(copy)[i] = agxc_use(agxc_dests(instr)[i].value);
      agxc_dests(copy)[i].value->def = copy;
   }
   for (unsigned i = 0; i < instr->src_count; i++) {
      struct agxc_ref src = agxc_srcs(instr)[i];
      agxc_srcs(copy)[i] =
         instr->op == AGXC_OP_PACK32 ? agxc_select_half(s, src) : agxc_select_reg(s, src);
   }
   agxc_insert(&s->at, copy);
}

static bool is_device_load(const struct agxc_selector *s, const struct agxc_ref *ref)
{
   return ref->kind == AGXC_VALUE && ref->value->id < s->value_count &&
          s->defs[ref->value->id]->op == AGXC_OP_LOAD_GLOBAL;
}

/* Where a constant is made that a phi takes from an arm: if both arms are without ifs and loops,
 * in front of the if when that saves the arm, or a wait in it since the other arm loads what the
 * phi takes. */
static struct agxc_block *block_for_constant(const struct agxc_selector *s, struct agxc_block *arm,
                                             const struct agxc_instr *phi)
{
   struct agxc_node *parent = arm->node.parent;
   if (!parent || parent->kind != AGXC_NODE_IF || phi->src_count != 2)
      return arm;
   const struct agxc_if *branch = agxc_as_if(parent);
   bool is_simple = branch->then_list.next->next == &branch->then_list &&
                    branch->else_list.next->next == &branch->else_list;
   bool pays = agx_list_empty(&arm->instrs) || is_device_load(s, agxc_phi_then(phi)) ||
               is_device_load(s, agxc_phi_else(phi));
   return is_simple && pays ? agxc_block_before(parent) : arm;
}

/* A phi's sources are made at the end of the blocks they come from. */
static void finish_phi(struct agxc_selector *s, struct agxc_instr *phi)
{
   *agxc_dest(phi) = agxc_use(agxc_dest(phi)->value);
   for (unsigned i = 0; i < phi->src_count; i++) {
      struct agxc_block *pred = phi->block->preds[i];
      if (agxc_srcs(phi)[i].kind == AGXC_NONE)
         continue;
      if (agxc_srcs(phi)[i].kind != AGXC_VALUE)
         pred = block_for_constant(s, pred, phi);
      s->at = agxc_at_exit(s->shader, pred);
      agxc_srcs(phi)[i] = agxc_select_reg(s, agxc_srcs(phi)[i]);
   }
}

/* ---- the walk --------------------------------------------------------- */

static const struct {
   uint16_t first, last;
   void (*select)(struct agxc_selector *, const struct agxc_instr *);
} classes[] = {
   {AGXC_OP_IMIN, AGXC_OP_UMAX, agxc_select_minmax},
   {AGXC_OP_FMIN, AGXC_OP_FMAX, agxc_select_minmax},
   {AGXC_OP_IEQ, AGXC_OP_FGE, agxc_select_compare},
   {AGXC_OP_SELECT, AGXC_OP_SELECT, agxc_select_choose},
   {AGXC_OP_LOAD_FORMAT, AGXC_OP_ATOMIC_SHARED, agxc_select_memory},
   {AGXC_OP_LOAD_SCRATCH, AGXC_OP_STORE_SCRATCH, agxc_select_scratch},
   {AGXC_OP_IMAGE_LOAD, AGXC_OP_IMAGE_STORE, agxc_select_image},
   {AGXC_OP_SYSVAL, AGXC_OP_SYSVAL, select_sysval},
   {AGXC_OP_STORE_UNIFORM, AGXC_OP_STORE_UNIFORM, select_store_uniform},
   {AGXC_OP_BARRIER, AGXC_OP_BARRIER, agxc_select_barrier},
   {AGXC_OP_BALLOT, AGXC_OP_BALLOT, agxc_select_ballot},
   {AGXC_OP_MATRIX_FMA, AGXC_OP_MATRIX_FMA, agxc_select_subgroup},
   {AGXC_OP_ACTIVE_RANK, AGXC_OP_SCAN, agxc_select_subgroup},
   {AGXC_OP_BRANCH, AGXC_OP_BRANCH, agxc_select_branch},
   {AGXC_OP_MOV, AGXC_OP_MOV, select_mov},
   {AGXC_OP_PACK64, AGXC_OP_UNPACK32, select_pack},
   {AGXC_OP_IADD, AGXC_OP_FCOS, agxc_select_alu},
};

static bool stays(const struct agxc_instr *instr)
{
   return instr->op == AGXC_OP_COLLECT || instr->op == AGXC_OP_SPLIT ||
          instr->op == AGXC_OP_BREAK || instr->op == AGXC_OP_CONTINUE ||
          instr->op == AGXC_OP_RETURN;
}

/* Lowering leaves 8 bits only to what does not look at the register's upper half, and 64 bits
 * to addresses, moves between registers, additions and products. */
static bool takes_width(const struct agxc_instr *instr, unsigned bits)
{
   switch (instr->op) {
   case AGXC_OP_MOV:
   case AGXC_OP_PHI:
      return true;
   case AGXC_OP_PACK64:
   case AGXC_OP_UNPACK64:
   case AGXC_OP_UMUL64:
   case AGXC_OP_SMUL64:
      return bits != 8;
   case AGXC_OP_IADD:
   case AGXC_OP_ISUB:
      return true;
   case AGXC_OP_UDIV:
   case AGXC_OP_UMOD:
   case AGXC_OP_SDIV:
   case AGXC_OP_SREM:
   case AGXC_OP_SMOD:
   case AGXC_OP_UMULH:
   case AGXC_OP_SMULH:
   case AGXC_OP_BITREV:
      return bits == 32;
   case AGXC_OP_USHR:
   case AGXC_OP_ASHR:
   case AGXC_OP_BITCOUNT:
   case AGXC_OP_FIND_UMSB:
      return bits != 8 && bits != 64;
   default:
      break;
   }
   bool compares = (instr->op >= AGXC_OP_IMIN && instr->op <= AGXC_OP_UMAX) ||
                   (instr->op >= AGXC_OP_IEQ && instr->op <= AGXC_OP_SGE);
   return bits != 64 && !(compares && bits == 8);
}

static void check_width(struct agxc_selector *s, const struct agxc_instr *instr)
{
   for (unsigned i = 0; i < instr->dest_count + instr->src_count; i++) {
      const struct agxc_ref *ref = &instr->operand[i];
      bool is_address = i == instr->dest_count && instr->op >= AGXC_OP_LOAD_FORMAT &&
                        instr->op <= AGXC_OP_ATOMIC_GLOBAL;
      bool is_heap = instr->op >= AGXC_OP_IMAGE_LOAD && instr->op <= AGXC_OP_IMAGE_STORE &&
                     ref->kind == AGXC_UNIFORM && ref->bits == 64;
      if (ref->kind != AGXC_NONE && !is_address && !is_heap && !takes_width(instr, ref->bits))
         agxc_fail(s->shader, AGX_UNIMPLEMENTED, "%s: operation %s on %u bits", s->shader->name,
                   agxc_op_info(instr->op)->name, ref->bits);
   }
}

static void select_instr(struct agxc_selector *s, struct agxc_instr *instr)
{
   check_width(s, instr);
   s->at = agxc_before(s->shader, instr);
   if (stays(instr)) {
      s->at.before = agxc_next_instr(instr);
      keep(s, instr);
      return;
   }
   if (agxc_select_pattern(s, instr)) {
      agx_list_remove(&instr->link);
      return;
   }
   for (size_t i = 0; i < AGX_COUNT(classes); i++) {
      if (instr->op < classes[i].first || instr->op > classes[i].last)
         continue;
      classes[i].select(s, instr);
      agx_list_remove(&instr->link);
      return;
   }
   agxc_fail(s->shader, AGX_UNIMPLEMENTED, "%s: operation %s can't be selected yet",
             s->shader->name, agxc_op_info(instr->op)->name);
}

static bool rounds_to_dest(const struct agxc_instr *instr)
{
   static const uint16_t ops[] = {
      AGXC_OP_FADD,  AGXC_OP_FSUB,   AGXC_OP_FMUL,  AGXC_OP_FFMA,   AGXC_OP_FSAT, AGXC_OP_FFLOOR,
      AGXC_OP_FCEIL, AGXC_OP_FTRUNC, AGXC_OP_FRINT, AGXC_OP_FFRACT, AGXC_OP_FRCP, AGXC_OP_FRSQRT,
      AGXC_OP_FSQRT, AGXC_OP_FEXP2,  AGXC_OP_FLOG2, AGXC_OP_FSIN,   AGXC_OP_FCOS,
   };
   for (size_t i = 0; i < AGX_COUNT(ops); i++)
      if (instr->op == ops[i])
         return true;
   return false;
}

/* Float instructions with a 16-bit destination round to 32 bits, then to 16, as an f2f behind them
 * would: it goes into the instruction. */
static void fold_narrowing(struct agxc_selector *s, struct agxc_instr *f2f)
{
   struct agxc_ref *wide = agxc_src_a(f2f);
   if (agxc_dest(f2f)->bits != 16 || wide->bits != 32 || wide->kind != AGXC_VALUE ||
       s->uses[wide->value->id] != 1)
      return;
   struct agxc_instr *def = wide->value->def;
   if (!def || !rounds_to_dest(def))
      return;
   *agxc_dest(def) = *agxc_dest(f2f);
   agxc_dest(def)->value->def = def;
   s->defs[agxc_dest(def)->value->id] = def;
   agx_list_remove(&f2f->link);
}

/* Whether the sources of its machine instruction extend with zeros what is shorter. */
static bool extends_with_zeros(const struct agxc_instr *instr)
{
   switch (instr->op) {
   case AGXC_OP_IADD:
   case AGXC_OP_ISUB:
   case AGXC_OP_IMUL:
   case AGXC_OP_IAND:
   case AGXC_OP_IOR:
   case AGXC_OP_IXOR:
   case AGXC_OP_ISHL:
   case AGXC_OP_USHR:
   case AGXC_OP_IEQ:
   case AGXC_OP_INE:
   case AGXC_OP_ULT:
   case AGXC_OP_UGE:
      return agxc_src_a(instr)->bits == 32;
   default:
      return false;
   }
}

/* What is undefined has no register: a phi copies nothing there, and anything else reads 0. */
static void drop_undefined(struct agxc_shader *shader)
{
   agxc_foreach_instr_of_safe (instr, shader) {
      agxc_foreach_src (src, instr)
         if (agxc_def_as(*src, AGXC_OP_UNDEF))
            *src = instr->op == AGXC_OP_PHI ? agxc_none() : agxc_imm(0, src->bits);
      if (instr->op == AGXC_OP_UNDEF)
         agx_list_remove(&instr->link);
   }
}

static void survey(struct agxc_selector *s)
{
   struct agxc_shader *shader = s->shader;
   s->value_count = shader->value_count;
   s->defs = AGX_ARENA_ARRAY(shader->arena, struct agxc_instr *, s->value_count);
   s->uses = agxc_count_uses(shader);
   s->low_uses = AGX_ARENA_ARRAY(shader->arena, uint32_t, s->value_count);
   s->low = AGX_ARENA_ARRAY(shader->arena, struct agxc_value *, s->value_count);
   agxc_foreach_instr_of (instr, shader) {
      agxc_foreach_dest (dest, instr)
         s->defs[dest->value->id] = instr;
      bool extends = extends_with_zeros(instr);
      agxc_foreach_src (src, instr)
         if (src->kind == AGXC_VALUE)
            s->low_uses[src->value->id] += extends;
   }
   agxc_foreach_instr_of_safe (instr, shader)
      if (instr->op == AGXC_OP_F2F)
         fold_narrowing(s, instr);
   for (uint32_t i = 0; i < shader->value_count; i++)
      if (shader->values[i]->bits < 16)
         shader->values[i]->bits = 16;
}

bool agxc_select(struct agxc_shader *shader)
{
   struct agxc_selector s = {.shader = shader};
   agxc_index(shader);
   drop_undefined(shader);
   survey(&s);
   agxc_foreach_instr_of_safe (instr, shader)
      if (instr->op != AGXC_OP_PHI && !agxc_is_machine(instr))
         select_instr(&s, instr);
   agxc_foreach_block (block, shader)
      agxc_foreach_phi (phi, block)
         finish_phi(&s, phi);
   return true;
}
