/* SPDX-License-Identifier: MIT
 *
 * The walk over the tree of control flow, and the helpers that find blocks and phis in it.
 */
#include "support.h"

#include <string.h>

#include "agx/compiler/ir/walk.h"
#include "ir_text.h"

/* Blocks 0 to 9 in program order: an if whose first arm has a loop. */
static const char nested[] = "%0:1 = ieq #1:32, #2:32\n"
                             "branch %0:1\n"
                             "if\n"
                             "   loop\n"
                             "      %1:32 = phi #0:32, %2:32\n"
                             "      %3:1 = phi %0:1, %0:1\n"
                             "      %2:32 = iadd %1:32, #1:32\n"
                             "      branch %3:1\n"
                             "      if\n"
                             "         break\n"
                             "      else\n"
                             "      end\n"
                             "   continuing\n"
                             "   end\n"
                             "else\n"
                             "end\n";

/* What a walk visited, a character for each visit, and the marks of the lists it is in. */
struct trace {
   struct agxc_shader *shader;
   char text[64];
   uint32_t marks[8], depth, lists;
   bool replaces;
};

static void note(struct trace *trace, char c)
{
   trace->text[strlen(trace->text)] = c;
}

static void visit_block(void *user, struct agxc_block *block)
{
   note(user, (char)(block->index < 10 ? '0' + block->index : '*'));
}

static void enter_loop(void *user, struct agxc_loop *loop)
{
   (void)loop;
   note(user, 'l');
}

static enum agxc_visited leave_loop(void *user, struct agxc_loop *loop)
{
   (void)loop;
   note(user, 'L');
   return AGXC_UNCHANGED;
}

/* Puts a block, which a walk shows as *, in the place of an if at top level. */
static enum agxc_visited leave_if(void *user, struct agxc_if *branch)
{
   struct trace *trace = user;
   note(trace, 'I');
   if (!trace->replaces || branch->node.parent)
      return AGXC_UNCHANGED;
   struct agxc_block *block = agxc_block_new(trace->shader);
   block->index = 10;
   agxc_node_insert_before(&branch->node, &block->node);
   agx_list_remove(&branch->node.link);
   return AGXC_REPLACED;
}

static uint32_t enter_list(void *user, const struct agx_link *list)
{
   struct trace *trace = user;
   (void)list;
   note(trace, '(');
   return trace->marks[trace->depth++] = ++trace->lists;
}

static void leave_list(void *user, uint32_t mark)
{
   struct trace *trace = user;
   note(trace, ')');
   assert_int_equal(mark, trace->marks[--trace->depth]);
}

static const struct agxc_visitor visitor = {visit_block, leave_if,   leave_loop,
                                            enter_loop,  enter_list, leave_list};

static void nodes_are_visited_in_program_order(void **state)
{
   (void)state;
   struct ir_text t;
   ir_text_begin(&t, "32x1x1", nested);
   struct trace trace = {.shader = t.shader};
   assert_false(agxc_walk(&t.shader->body, &visitor, &trace));
   assert_string_equal(trace.text, "(0(1l(2(3)(4)I5)(6)L7)(8)I9)");
   ir_text_end(&t);
}

static void what_replaces_a_node_is_visited(void **state)
{
   (void)state;
   struct ir_text t;
   ir_text_begin(&t, "32x1x1", nested);
   struct trace trace = {.shader = t.shader, .replaces = true};
   assert_true(agxc_walk(&t.shader->body, &visitor, &trace));
   assert_string_equal(trace.text, "(0(1l(2(3)(4)I5)(6)L7)(8)I*9)");
   ir_text_end(&t);
}

static void absent_visits_are_left_out(void **state)
{
   (void)state;
   struct ir_text t;
   ir_text_begin(&t, "32x1x1", nested);
   struct trace trace = {.shader = t.shader};
   const struct agxc_visitor blocks = {.block = visit_block};
   assert_false(agxc_walk(&t.shader->body, &blocks, &trace));
   assert_string_equal(trace.text, "0123456789");
   ir_text_end(&t);
}

static void blocks_are_found_around_nodes(void **state)
{
   (void)state;
   struct ir_text t;
   ir_text_begin(&t, "32x1x1", nested);
   struct agxc_block **blocks = t.shader->blocks;
   const struct agxc_node *branch = agxc_node_after(&blocks[0]->node);
   const struct agxc_node *loop = agxc_node_after(&blocks[1]->node);
   assert_ptr_equal(agxc_block_before(branch), blocks[0]);
   assert_ptr_equal(agxc_block_after(branch), blocks[9]);
   assert_null(agxc_node_before(&blocks[0]->node));
   assert_null(agxc_node_after(&blocks[9]->node));
   assert_ptr_equal(loop->parent, branch);
   assert_ptr_equal(agxc_first_block(agxc_list_of(branch, 0)), blocks[1]);
   assert_ptr_equal(agxc_last_block(agxc_list_of(branch, 0)), blocks[7]);
   assert_ptr_equal(agxc_first_block(agxc_list_of(branch, 1)), blocks[8]);
   assert_null(agxc_list_of(branch, 2));
   assert_null(agxc_list_of(&blocks[0]->node, 0));
   uint32_t index = 2;
   agxc_foreach_loop_block (block, t.shader, agxc_as_loop(loop)) {
      assert_ptr_equal(block, blocks[index++]);
      assert_int_equal(agxc_starts_loop(block), block == blocks[2]);
   }
   assert_int_equal(index, 7);
   ir_text_end(&t);
}

static void phis_follow_predecessors(void **state)
{
   (void)state;
   struct ir_text t;
   ir_text_begin(&t, "32x1x1", nested);
   struct agxc_block **blocks = t.shader->blocks, *header = blocks[2];
   assert_int_equal(agxc_pred_index(header, blocks[1]), 0);
   assert_int_equal(agxc_pred_index(header, blocks[6]), 1);
   assert_int_equal(agxc_count_phis(blocks[0]), 0);
   assert_int_equal(agxc_count_phis(header), 2);
   assert_ptr_equal(agxc_at_exit(t.shader, header).before, agxc_terminator(header));
   assert_null(agxc_at_exit(t.shader, blocks[9]).before);
   agxc_foreach_phi (phi, header)
      agxc_instr_remove(phi);
   assert_int_equal(agxc_count_phis(header), 0);
   assert_int_equal(agxc_first_instr(header)->op, AGXC_OP_IADD);
   ir_text_end(&t);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(nodes_are_visited_in_program_order),
      cmocka_unit_test(what_replaces_a_node_is_visited),
      cmocka_unit_test(absent_visits_are_left_out),
      cmocka_unit_test(blocks_are_found_around_nodes),
      cmocka_unit_test(phis_follow_predecessors),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
