/* SPDX-License-Identifier: MIT
 *
 * Equal pure expressions are computed once. An expression is known in the rest of its
 * list of nodes and in whatever is nested there, which is a part of what it dominates.
 */
#include "agx/compiler/passes.h"

#define BUCKETS 512u

struct known {
   struct agxc_instr *instr;
   struct known *next;  /* in the bucket */
   struct known *older; /* in order of discovery */
   uint32_t bucket;
};

struct cse {
   struct agxc_shader *shader;
   struct known *buckets[BUCKETS];
   struct known *newest;
   bool changed;
};

static bool is_candidate(const struct agxc_instr *instr)
{
   if (agxc_is_machine(instr) || instr->dest_count != 1 || instr->operand[0].kind != AGXC_VALUE)
      return false;
   if (instr->op == AGXC_OP_LOAD_GLOBAL)
      return agxc_imm_of(instr, 0) == AGXC_ACCESS_CONST;
   if (instr->op == AGXC_OP_LOAD_BUFFER)
      return agxc_imm_of(instr, 1) == AGXC_ACCESS_CONST;
   /* Copies of vectors cost nothing where they are made, but hold registers. */
   return instr->op != AGXC_OP_PHI && instr->op != AGXC_OP_MOV && instr->op != AGXC_OP_COLLECT &&
          !(agxc_flags(instr) & ~(unsigned)AGXC_COMMUTATIVE);
}

static uint64_t identity(const struct agxc_ref *ref)
{
   switch (ref->kind) {
   case AGXC_VALUE:
      return ref->value->id;
   case AGXC_IMM:
      return (uint64_t)ref->imm;
   case AGXC_UNIFORM:
      return ref->half;
   default:
      return 0;
   }
}

static bool is_equal(const struct agxc_instr *a, const struct agxc_instr *b)
{
   if (a->op != b->op || a->operand_count != b->operand_count ||
       a->operand[0].bits != b->operand[0].bits || a->operand[0].count != b->operand[0].count)
      return false;
   for (unsigned i = 1; i < a->operand_count; i++) {
      const struct agxc_ref *x = &a->operand[i], *y = &b->operand[i];
      if (x->kind != y->kind || x->bits != y->bits || x->count != y->count ||
          identity(x) != identity(y))
         return false;
   }
   return true;
}

static uint32_t hash(const struct agxc_instr *instr)
{
   uint64_t h = instr->op * 0x9e3779b97f4a7c15ull + instr->operand[0].bits;
   for (unsigned i = 1; i < instr->operand_count; i++)
      h = (h ^ identity(&instr->operand[i]) ^ instr->operand[i].kind << 20) * 0xbf58476d1ce4e5b9ull;
   return (uint32_t)(h >> 32) % BUCKETS;
}

static void visit_instr(struct cse *c, struct agxc_instr *instr)
{
   if (!is_candidate(instr))
      return;
   uint32_t bucket = hash(instr);
   for (struct known *at = c->buckets[bucket]; at; at = at->next) {
      if (!is_equal(at->instr, instr))
         continue;
      struct agxc_instr *move = agxc_instr_new(c->shader, AGXC_OP_MOV);
      struct agxc_builder b = agxc_before(c->shader, instr);
      move->operand[0] = instr->operand[0];
      move->operand[0].value->def = move;
      move->operand[1] = at->instr->operand[0];
      agxc_insert(&b, move);
      agxc_instr_remove(instr);
      c->changed = true;
      return;
   }
   struct known *made = AGX_ARENA_NEW(c->shader->arena, struct known);
   *made = (struct known){
      .instr = instr, .next = c->buckets[bucket], .older = c->newest, .bucket = bucket};
   c->buckets[bucket] = c->newest = made;
}

static void visit_list(struct cse *c, struct agx_link *list);

/* What is found inside is forgotten at the end. */
static void visit_scope(struct cse *c, struct agx_link *list)
{
   struct known *mark = c->newest;
   visit_list(c, list);
   for (; c->newest != mark; c->newest = c->newest->older)
      c->buckets[c->newest->bucket] = c->newest->next;
}

static void visit_list(struct cse *c, struct agx_link *list)
{
   agxc_foreach_node (node, list) {
      if (node->kind == AGXC_NODE_BLOCK) {
         struct agxc_block *block = agx_container_of(node, struct agxc_block, node);
         agxc_foreach_instr_safe (instr, block)
            visit_instr(c, instr);
      } else if (node->kind == AGXC_NODE_IF) {
         struct agxc_if *branch = agx_container_of(node, struct agxc_if, node);
         visit_scope(c, &branch->then_list);
         visit_scope(c, &branch->else_list);
      } else {
         struct agxc_loop *loop = agx_container_of(node, struct agxc_loop, node);
         visit_scope(c, &loop->body);
         visit_scope(c, &loop->continuing);
      }
   }
}

bool agxc_opt_cse(struct agxc_shader *shader)
{
   struct cse *c = AGX_ARENA_NEW(shader->arena, struct cse);
   c->shader = shader;
   visit_list(c, &shader->body);
   return c->changed;
}
