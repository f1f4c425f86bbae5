/* SPDX-License-Identifier: MIT
 *
 * Single passes of the pipeline over IR text, for `agx opt` and for tests of passes. What the front
 * end would have declared comes from a struct, since the text has instructions only.
 */
#include <stdlib.h>
#include <string.h>

#include "agx/compiler/compiler.h"
#include "agx/compiler/pipeline.h"
#include "agx/compiler/ir/launch_slots.h"
#include "base/float_env.h"

#define LIMIT_B ((size_t)256 << 20)

struct text_run {
   struct agx_arena arena;
   const struct agxc_options *options;
   const struct agxc_text_input *input;
   const char *const *passes;
   size_t pass_count;
   struct agxc_shader *shader; /* NULL until it is made */
   const char *output;         /* in the arena */
};

static void declare(struct agxc_shader *shader, const struct agxc_text_input *input)
{
   for (uint32_t i = 0; i < input->binding_count; i++) {
      shader->bindings[i] = (struct agx_program_binding){
         .min_size_B = input->bindings[i].min_size_B, .robustness = input->bindings[i].robustness};
      if (input->has_uniforms)
         agxc_uniform_slot(shader, AGX_UNIFORM_BUFFER_ADDRESS, i, 0, 64);
   }
   shader->binding_count = input->binding_count;
   for (uint32_t at_B = 0; input->has_uniforms && at_B + 4 <= shader->push_B; at_B += 4)
      agxc_uniform_slot(shader, AGX_UNIFORM_PUSH, at_B, 0, 32);
   shader->is_unchecked = input->is_unchecked;
}

static void check(struct agxc_shader *shader, enum agxc_stage stage, const char *pass)
{
   agx_status status = agxc_validate(shader, stage);
   if (status == AGX_OK)
      return;
   agx_error_prefix("after %s", pass);
   agxc_leave(shader, status);
}

/* The pass's place in the pipeline that takes the shader as it is now. */
static const struct agxc_pass *place_for(struct agxc_shader *shader, const char *name)
{
   agx_status status = AGX_OK;
   for (unsigned stage = AGXC_STAGE_GENERIC; stage <= AGXC_STAGE_JUMPS; stage++) {
      const struct agxc_pass *pass = agxc_pass_find(name, (enum agxc_stage)stage);
      if (!pass)
         continue;
      status = agxc_validate(shader, (enum agxc_stage)stage);
      if (status == AGX_OK)
         return pass;
   }
   agx_error_prefix("before %s", name);
   agxc_leave(shader, status);
}

/* Text that no pass runs over must fit a stage, too: the first of those that it can be of. */
static void check_any_stage(struct agxc_shader *shader)
{
   enum agxc_stage first = AGXC_STAGE_GENERIC;
   agxc_index(shader);
   agxc_foreach_instr_of (instr, shader)
      if (agxc_is_machine(instr))
         first = AGXC_STAGE_MACHINE;
   enum agxc_stage last = first == AGXC_STAGE_GENERIC ? first : AGXC_STAGE_JUMPS;
   for (enum agxc_stage stage = first; stage <= last; stage++)
      if (agxc_validate(shader, stage) == AGX_OK)
         return;
   agxc_leave(shader, agxc_validate(shader, first));
}

static void run_all(struct text_run *run, const char *text)
{
   agx_status status = agxc_parse(&run->arena, run->options, text, &run->shader);
   if (status != AGX_OK)
      agxc_leave(run->shader = agxc_shader_create(&run->arena, run->options), status);
   struct agxc_shader *shader = run->shader;
   declare(shader, run->input);
   if (run->pass_count == 0)
      check_any_stage(shader);
   for (size_t i = 0; i < run->pass_count; i++) {
      const struct agxc_pass *pass = place_for(shader, run->passes[i]);
      pass->run(shader);
      check(shader, pass->stage, pass->name);
      if (shader->preamble)
         check(shader->preamble, AGXC_STAGE_GENERIC, pass->name);
   }
   run->output = agxc_print(shader, &run->arena);
   if (shader->preamble)
      run->output = agx_arena_printf(&run->arena, "%spreamble\n%s", run->output,
                                     agxc_print(shader->preamble, &run->arena));
}

/* Apart from its caller, whose variables a jump would leave undefined. */
static agx_status __attribute__((noinline)) guarded(struct text_run *run, const char *text)
{
   jmp_buf failed;
   run->arena.exhausted = &failed;
   if (setjmp(failed) == 0) {
      run_all(run, text);
      return AGX_OK;
   }
   if (run->shader && run->shader->status != AGX_OK)
      return run->shader->status;
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "IR text: more than %zu bytes of memory",
                   run->arena.limit_B);
}

agx_status agxc_run_passes(const char *text, const char *const *passes, size_t pass_count,
                           const struct agxc_options *options, const struct agxc_text_input *input,
                           char **out_text)
{
   static const struct agxc_text_input nothing;
   *out_text = NULL;
   if (!options->chip)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "compiler: no chip");
   for (size_t i = 0; i < pass_count; i++) {
      size_t known = 0;
      while (agxc_pass_name(known) && strcmp(agxc_pass_name(known), passes[i]) != 0)
         known++;
      if (!agxc_pass_name(known))
         return AGX_FAIL(AGX_NOT_FOUND, "there is no pass %s", passes[i]);
   }
   struct text_run run = {.options = options,
                          .input = input ? input : &nothing,
                          .passes = passes,
                          .pass_count = pass_count};
   if (run.input->binding_count > AGX_PROGRAM_MAX_BINDINGS)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%u bindings; there are %u", run.input->binding_count,
                      AGX_PROGRAM_MAX_BINDINGS);
   agx_arena_init(&run.arena, options->alloc,
                  options->memory_limit_B ? options->memory_limit_B : LIMIT_B, NULL);
   struct agx_float_env env;
   agx_float_env_enter(&env);
   agx_status status = guarded(&run, text);
   agx_float_env_leave(&env);
   if (status == AGX_OK) {
      *out_text = strdup(run.output);
      if (!*out_text)
         status = AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "IR text: out of memory");
   }
   agx_arena_fini(&run.arena);
   return status;
}
