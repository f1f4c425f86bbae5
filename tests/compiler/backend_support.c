/* SPDX-License-Identifier: MIT
 *
 * The way from machine code in SSA to a SIMD-group of the simulator, for tests of the back end.
 */
#include "backend_support.h"

#include <stdlib.h>
#include <string.h>

#include "../sim/sim_support.h"
#include "agx/compiler/emit/emit.h"
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/regalloc/regalloc.h"
#include "agx/compiler/schedule/schedule.h"

void backend_init(struct backend *backend)
{
   memset(backend, 0, sizeof(*backend));
   agx_arena_init(&backend->arena, NULL, 256u << 20, &backend->exhausted);
   backend->options.chip = agx_chip_find("g13g");
   backend->options.debug = AGXC_DEBUG_VALIDATE;
   if (setjmp(backend->exhausted))
      fail_msg("no memory for a shader");
   backend->shader = agxc_shader_create(&backend->arena, &backend->options);
   strcpy(backend->shader->name, "test");
   backend->shader->local_size[0] = 32;
   backend->shader->local_size[1] = backend->shader->local_size[2] = 1;
   backend->shader->uniform_halves = 4;
}

void backend_fini(struct backend *backend)
{
   agx_arena_fini(&backend->arena);
   free(backend->text);
}

static void print_code(struct backend *backend, const uint8_t *code, uint32_t size)
{
   size_t capacity = 512 + (size_t)size * 40, at = 0;
   free(backend->text);
   backend->text = malloc(capacity);
   assert_non_null(backend->text);
   backend->text[0] = '\0';
   struct agx_isa_instr instr;
   for (uint32_t i = 0; i < size; i += instr.length) {
      assert_ok(agx_isa_decode(code + i, size - i, &instr));
      at += agx_isa_print(&instr, backend->text + at, capacity - at);
      backend->text[at++] = '\n';
      backend->text[at] = '\0';
   }
}

void backend_load(struct backend *backend, const uint8_t *code, uint32_t size)
{
   print_code(backend, code, size);
}

agx_status backend_compile(struct backend *backend)
{
   struct agxc_shader *shader = backend->shader;
   uint8_t *code;
   uint32_t text_B, code_B;
   if (setjmp(backend->exhausted))
      return shader->status;
   agxc_schedule(shader);
   if (agxc_spill(shader)) {
      agxc_opt_dce(shader);
      agxc_schedule(shader);
   }
   agxc_ra(shader);
   agxc_insert_stack(shader);
   agxc_lower_control(shader);
   agxc_insert_waits(shader);
   agxc_hints(shader);
   agxc_emit(shader, &code, &text_B, &code_B);
   assert_int_equal(code_B, text_B + 16);
   print_code(backend, code, text_B - 2); /* without stop: the simulator's helper adds it */
   return AGX_OK;
}

/* What the driver's launch words would load: constants, and the addresses of buffers. */
static void set_uniform(const struct backend *backend, struct sim_group *group,
                        const struct agx_program_uniform *slot)
{
   uint64_t value = slot->value;
   uint32_t piece = backend->pieces ? slot->index % backend->pieces : slot->index;
   if (slot->kind == AGX_UNIFORM_BUFFER_ADDRESS)
      value += BACKEND_DATA + (uint64_t)piece * BACKEND_BUFFER_B;
   for (uint32_t i = 0; i < slot->halves; i++)
      group->uniform[slot->start + i] = (uint16_t)(value >> 16 * i);
}

void backend_run(struct backend *backend, uint8_t *data, uint32_t data_B)
{
   struct sim_memory memory;
   sim_memory_init(&memory);
   uint8_t *host = sim_map(&memory, BACKEND_DATA, BACKEND_DATA_B, true);
   memcpy(host, data, data_B);
   struct sim_group *group = sim_group_new(backend->text);
   group->memory = &memory;
   group->options.check = true;
   group->options.max_instructions_per_group = 20000000;
   group->stack_words = agx_program_frame_B(backend->shader->scratch_B) / 4;
   group->shared_bytes = backend->shader->shared_B;
   group->halves = backend->shader->gpr_halves;
   group->shared_bytes = backend->shader->shared_B;
   memset(group->reg, 0xa5, sizeof(group->reg));
   for (unsigned i = 0; i < 4; i++)
      group->uniform[i] = (uint16_t)(BACKEND_DATA >> 16 * i);
   for (uint32_t i = 0; i < backend->shader->uniform_count; i++)
      set_uniform(backend, group, &backend->shader->uniforms[i]);
   agx_status status = sim_group_run(group);
   if (status != AGX_OK)
      fail_msg("%s in\n%s", agx_error_peek(), backend->text);
   memcpy(data, host, data_B);
   free(group);
   sim_memory_fini(&memory);
}

struct agxc_instr *backend_instr(struct agxc_builder *b, enum agx_isa_op opcode, unsigned count,
                                 const struct agxc_ref *operands)
{
   struct agxc_instr *instr = agxc_instr_new(b->shader, AGXC_OP_ISA + opcode);
   for (unsigned i = 0; i < count; i++) {
      instr->operand[i] = operands[i];
      if (i < instr->dest_count && operands[i].kind == AGXC_VALUE)
         operands[i].value->def = instr;
   }
   agxc_insert(b, instr);
   return instr;
}

struct agxc_ref backend_value(struct agxc_builder *b, enum agx_isa_op opcode, unsigned bits,
                              unsigned elements, unsigned count, const struct agxc_ref *operands)
{
   struct agxc_ref all[AGX_ISA_MAX_OPERANDS];
   all[0] = agxc_use(agxc_value_new(b->shader, bits, elements));
   memcpy(all + 1, operands, count * sizeof(*operands));
   backend_instr(b, opcode, count + 1, all);
   return all[0];
}
