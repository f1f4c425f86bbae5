/* SPDX-License-Identifier: MIT
 *
 * Issues loads that a loop's next iteration needs in this one, where that hides them:
 *
 *    loop { if (!test(i)) break; x = load(i); use(x); barrier; long; barrier; i += 4 }
 *
 * loads in front of the loop for the first iteration, and behind the last use for the next one:
 *
 *    if (test(i)) x = load(i)
 *    loop { if (!test(i)) break; use(x); barrier; x = load(next); long; barrier; i += 4 }
 *
 * Two kinds of loads gain: those behind whose last use so much follows, up to the next barrier
 * (which waits for everything), that the load is done by then; and those that another load's
 * address depends on, since both kinds then wait together.
 *
 * No load reads what the loop would not have read: `next` are the values of the next iteration if
 * there is one, else those of this iteration again. So only loads that each iteration runs move, in
 * loops without a way out in their middle.
 *
 * Before: generic SSA. After: the same. The last pass before selection: a load that opt_licm can
 * move out of the loop needs none of this. prefetch_choose.c chooses the loads.
 */
#include "agx/compiler/ir/fold.h"
#include "agx/compiler/opt/loads/loads.h"
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/opt/loads/prefetch_impl.h"

/* ---- copies --------------------------------------------------------------- */

static struct agxc_ref copy_of(struct agxc_prefetch *p, struct agxc_ref ref, enum agxc_way way);

static struct agxc_ref copy_phi(struct agxc_prefetch *p, const struct agxc_instr *phi,
                                enum agxc_way way)
{
   if (way == AGXC_WAY_FIRST)
      return *agxc_phi_entry(phi);
   return way == AGXC_WAY_THIS ? agxc_use(agxc_dest(phi)->value)
                               : copy_of(p, *agxc_phi_back(phi), AGXC_WAY_THIS);
}

/* What is known without computing it: first iterations begin with constants. An index below zero,
 * which bases that constants went into allow, keeps its shift: a scaled index has a sign, an offset
 * not.
 */
static struct agxc_ref simplified(const struct agxc_instr *instr, const struct agxc_ref *srcs)
{
   if (instr->src_count != 2 || !agxc_has_src(instr, AGXC_SRC_B))
      return agxc_none();
   struct agxc_ref a = srcs[agxc_src_a(instr) - agxc_srcs(instr)];
   struct agxc_ref b = srcs[agxc_src_b(instr) - agxc_srcs(instr)];
   if (instr->op == AGXC_OP_ISHL && a.kind == AGXC_IMM && a.imm >> 31)
      return agxc_none();
   if (a.kind == AGXC_IMM && b.kind == AGXC_IMM)
      return agxc_fold((enum agxc_op)instr->op, agxc_dest(instr)->bits, a, b);
   if (instr->op != AGXC_OP_IADD)
      return agxc_none();
   if (a.kind == AGXC_IMM && a.imm == 0)
      return b;
   return b.kind == AGXC_IMM && b.imm == 0 ? a : agxc_none();
}

static struct agxc_ref copy_instr(struct agxc_prefetch *p, const struct agxc_instr *instr,
                                  enum agxc_way way)
{
   struct agxc_ref srcs[AGXC_PREFETCH_MAX_SOURCES];
   for (unsigned i = 0; i < instr->src_count; i++)
      srcs[i] = copy_of(p, agxc_srcs(instr)[i], way);
   struct agxc_ref known = simplified(instr, srcs);
   if (known.kind != AGXC_NONE)
      return known;
   struct agxc_instr *copy = agxc_instr_new_n(p->shader, instr->op, 1, instr->src_count);
   struct agxc_value *value =
      agxc_value_new(p->shader, agxc_dest(instr)->bits, agxc_dest(instr)->count);
   for (unsigned i = 0; i < instr->operand_count; i++)
      copy->operand[i] = instr->operand[i];
   for (unsigned i = 0; i < instr->src_count; i++)
      agxc_srcs(copy)[i] = srcs[i];
   agxc_define(copy, agxc_use(value));
   copy->flags = instr->flags;
   agxc_insert(&p->b, copy);
   return *agxc_dest(copy);
}

/* The value of another iteration. No deeper than AGXC_LOADS_MAX_SLICE. */
static struct agxc_ref copy_of(struct agxc_prefetch *p, struct agxc_ref ref, enum agxc_way way)
{
   if (ref.kind != AGXC_VALUE || ref.value->id >= p->value_count || !agxc_prefetch_varies(p, &ref))
      return ref;
   struct agxc_copied *known = &p->map[way][ref.value->id];
   if (known->stamp != p->stamp) {
      const struct agxc_instr *def = ref.value->def;
      struct agxc_ref copy =
         agxc_prefetch_is_phi(p, def) ? copy_phi(p, def, way) : copy_instr(p, def, way);
      *known = (struct agxc_copied){copy, p->stamp};
   }
   return known->ref;
}

/* Copies go to another place from now on, where those made before may not be known. */
static void go_to(struct agxc_prefetch *p, struct agxc_builder b)
{
   p->b = b;
   p->stamp++;
}

/* ---- moving ---------------------------------------------------------------- */

/* An if on the iteration's test at the end of the builder's block, and a block behind it. */
static struct agxc_block *build_if(struct agxc_prefetch *p, struct agxc_ref test,
                                   struct agxc_block **out_inside)
{
   struct agxc_block *behind;
   const struct agxc_if *branch = agxc_build_if(&p->b, test, &behind);
   *out_inside = agxc_first_block(p->shape.leaves_if ? &branch->else_list : &branch->then_list);
   return behind;
}

/* Behind such an if: what was loaded inside, or the other. */
static struct agxc_ref build_phi(struct agxc_prefetch *p, struct agxc_ref loaded,
                                 struct agxc_ref other)
{
   struct agxc_ref ways[2];
   ways[p->shape.leaves_if ? 1 : 0] = loaded;
   ways[p->shape.leaves_if ? 0 : 1] = other;
   return agxc_build(&p->b, AGXC_OP_PHI, loaded.bits, loaded.count, 2, ways);
}

static void load_first(struct agxc_prefetch *p, struct agxc_ref *out_loaded)
{
   struct agxc_block *inside = agxc_block_before(&p->shape.loop->node), *behind = NULL;
   struct agxc_ref zeros[AGXC_LOADS_FAR];
   go_to(p, agxc_at_end(p->shader, inside));
   struct agxc_ref test = copy_of(p, *p->shape.taken, AGXC_WAY_FIRST);
   if (test.kind != AGXC_IMM || (bool)test.imm == p->shape.leaves_if) {
      for (uint32_t i = 0; i < p->choice_count; i++)
         zeros[i] = agxc_build_zero(&p->b, agxc_dest(p->choices[i].load));
      behind = build_if(p, test, &inside);
      p->b = agxc_at_end(p->shader, inside); /* which sees what was copied in front of it */
   }
   for (uint32_t i = 0; i < p->choice_count; i++)
      out_loaded[i] = copy_instr(p, p->choices[i].load, AGXC_WAY_FIRST);
   if (!behind)
      return;
   p->b = agxc_at_end(p->shader, behind);
   for (uint32_t i = 0; i < p->choice_count; i++)
      out_loaded[i] = build_phi(p, out_loaded[i], zeros[i]);
}

/* The phi defines the load's value, so that its uses stay as they are. */
static void load_next(struct agxc_prefetch *p, struct agxc_choice *choice, struct agxc_ref first)
{
   struct agxc_instr *load = choice->load;
   struct agxc_ref now = *agxc_dest(load);
   struct agxc_block *inside, *block = choice->before ? choice->before->block : choice->block;
   go_to(p, (struct agxc_builder){p->shader, block, choice->before});
   struct agxc_ref test = copy_of(p, *p->shape.taken, AGXC_WAY_NEXT);
   struct agxc_block *behind = build_if(p, test, &inside);
   for (uint32_t i = 0; i < p->choice_count; i++)
      if (p->choices[i].block == block)
         p->choices[i].block = behind; /* for those that go to the end */
   p->b = agxc_at_end(p->shader, inside);
   struct agxc_ref next = copy_instr(p, load, AGXC_WAY_NEXT);
   p->b = agxc_at_start(p->shader, behind);
   next = build_phi(p, next, now);
   struct agxc_builder top = agxc_at_start(p->shader, p->shape.header);
   struct agxc_ref ways[] = {first, next};
   agxc_define_as(agxc_build(&top, AGXC_OP_PHI, now.bits, now.count, 2, ways), now);
}

static void run_ahead(struct agxc_prefetch *p)
{
   struct agxc_ref first[AGXC_LOADS_FAR];
   load_first(p, first);
   for (uint32_t i = 0; i < p->choice_count; i++)
      load_next(p, &p->choices[i], first[i]);
   for (uint32_t i = 0; i < p->choice_count; i++) /* choices may name others' places */
      agxc_instr_remove(p->choices[i].load);
}

/* ---- pass ------------------------------------------------------------------- */

/* The innermost loop with something to gain: copies in it are unknown to those around it. */
static bool try_loop(void *user, struct agxc_loop *loop)
{
   struct agxc_prefetch *p = user;
   if (!agxc_loop_shape_find(&p->shape, p->shader, loop))
      return false;
   p->first = p->shape.header->index;
   p->last = agxc_last_block(&loop->continuing)->index;
   agxc_prefetch_choose(p);
   if (p->choice_count)
      run_ahead(p);
   return p->choice_count > 0;
}

bool agxc_opt_prefetch(struct agxc_shader *shader)
{
   struct agxc_prefetch p = {.shader = shader, .value_count = shader->value_count};
   agxc_index(shader);
   if (!agxc_has_loop(shader))
      return false;
   p.liveness = agxc_liveness_compute(shader);
   for (unsigned way = 0; way < AGXC_WAY_COUNT; way++)
      p.map[way] = AGX_ARENA_ARRAY(shader->arena, struct agxc_copied, shader->value_count + 1ull);
   if (!agxc_loops_visit(&shader->body, try_loop, &p))
      return false;
   agxc_opt_cse(shader);
   agxc_opt_copy_prop(shader);
   agxc_opt_dce(shader);
   return true;
}
