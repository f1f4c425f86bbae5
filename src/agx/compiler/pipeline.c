/* SPDX-License-Identifier: MIT
 *
 * The pipeline: one table of passes, in order, and the loop over it. agxc_compile calls it between
 * the front end and the emitter; a shader's preamble goes through what follows agxc_opt_preamble.
 */
#include "agx/compiler/pipeline.h"

#include <string.h>

#include "agx/compiler/compiler.h"
#include "agx/compiler/emit/emit.h"
#include "agx/compiler/lower/lower.h"
#include "agx/compiler/opt/loads/loads.h"
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/regalloc/regalloc.h"
#include "agx/compiler/schedule/schedule.h"
#include "agx/compiler/select/select.h"

static const struct agxc_pass passes[] = {
   {"opt_copy_prop", agxc_opt_copy_prop, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"lower_sampler", agxc_lower_sampler, AGXC_STAGE_GENERIC, 0},
   {"lower_buffer", agxc_lower_buffer, AGXC_STAGE_GENERIC, 0},
   {"elide_bounds_checks", agxc_elide_bounds_checks, AGXC_STAGE_GENERIC, 0},
   {"opt_algebraic", agxc_opt_algebraic, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_copy_prop", agxc_opt_copy_prop, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_dce", agxc_opt_dce, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_control_flow", agxc_opt_control_flow, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_copy_prop", agxc_opt_copy_prop, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_unroll", agxc_opt_unroll, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_copy_prop", agxc_opt_copy_prop, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_algebraic", agxc_opt_algebraic, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_control_flow", agxc_opt_control_flow, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_private_tables", agxc_opt_private_tables, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_private_stores", agxc_opt_private_stores, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"lower_private", agxc_lower_private, AGXC_STAGE_GENERIC, 0},
   {"opt_unroll_partial", agxc_opt_unroll_partial, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"lower_subgroup", agxc_lower_subgroup, AGXC_STAGE_GENERIC, 0},
   {"lower_float64", agxc_lower_float64, AGXC_STAGE_GENERIC, 0},
   {"lower_narrow", agxc_lower_narrow, AGXC_STAGE_GENERIC, 0},
   {"lower_int64", agxc_lower_int64, AGXC_STAGE_GENERIC, 0},
   {"lower_division", agxc_lower_division, AGXC_STAGE_GENERIC, 0},
   {"lower_math", agxc_lower_math, AGXC_STAGE_GENERIC, 0},
   {"opt_algebraic", agxc_opt_algebraic, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_copy_prop", agxc_opt_copy_prop, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_wide_address", agxc_opt_wide_address, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_cse", agxc_opt_cse, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_hoist_common", agxc_opt_hoist_common, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_copy_prop", agxc_opt_copy_prop, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_hoist_loads", agxc_opt_hoist_loads, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_memory", agxc_opt_memory, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_own_elements", agxc_opt_own_elements, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_copy_prop", agxc_opt_copy_prop, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_dce", agxc_opt_dce, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_if_conversion", agxc_opt_if_conversion, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_widen_bytes", agxc_opt_widen_bytes, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_algebraic", agxc_opt_algebraic, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_copy_prop", agxc_opt_copy_prop, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_dce", agxc_opt_dce, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_control_flow", agxc_opt_control_flow, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_byte_dot", agxc_opt_byte_dot, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_unroll_predicated", agxc_opt_unroll_predicated, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_defer_uses", agxc_opt_defer_uses, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_batch_loads", agxc_opt_batch_loads, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_preload_loads", agxc_opt_preload_loads, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_vectorize", agxc_opt_vectorize, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_copy_prop", agxc_opt_copy_prop, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"lower_robust", agxc_lower_robust, AGXC_STAGE_GENERIC, 0},
   {"opt_address", agxc_opt_address, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_cse", agxc_opt_cse, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_copy_prop", agxc_opt_copy_prop, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_dce", agxc_opt_dce, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_control_flow", agxc_opt_control_flow, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_contraction", agxc_opt_contraction, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_preamble", agxc_opt_preamble, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_rotate", agxc_opt_rotate, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_licm", agxc_opt_licm, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"opt_prefetch", agxc_opt_prefetch, AGXC_STAGE_GENERIC, AGXC_DEBUG_NO_OPT},
   {"select", agxc_select, AGXC_STAGE_MACHINE, 0},
   {"opt_dce", agxc_opt_dce, AGXC_STAGE_MACHINE, 0},
   {"balance", agxc_balance, AGXC_STAGE_MACHINE, AGXC_DEBUG_NO_OPT},
   {"schedule_sink", agxc_schedule_sink, AGXC_STAGE_MACHINE,
    AGXC_DEBUG_NO_OPT | AGXC_DEBUG_NO_SCHEDULE},
   {"schedule_recompute", agxc_schedule_recompute, AGXC_STAGE_MACHINE,
    AGXC_DEBUG_NO_OPT | AGXC_DEBUG_NO_SCHEDULE},
   {"schedule_pressure", agxc_schedule_pressure, AGXC_STAGE_MACHINE,
    AGXC_DEBUG_NO_OPT | AGXC_DEBUG_NO_SCHEDULE},
   {"schedule", agxc_schedule, AGXC_STAGE_MACHINE, AGXC_DEBUG_NO_OPT | AGXC_DEBUG_NO_SCHEDULE},
   {"spill", agxc_spill, AGXC_STAGE_MACHINE, 0},
   {"opt_dce", agxc_opt_dce, AGXC_STAGE_MACHINE, 0, .needs_spill = true},
   /* What comes back from memory is asked for early. */
   {"schedule", agxc_schedule, AGXC_STAGE_MACHINE, AGXC_DEBUG_NO_OPT | AGXC_DEBUG_NO_SCHEDULE,
    .needs_spill = true},
   {"ra", agxc_ra, AGXC_STAGE_REGISTERS, 0},
   {"insert_stack", agxc_insert_stack, AGXC_STAGE_REGISTERS, 0},
   {"schedule_post", agxc_schedule_post, AGXC_STAGE_REGISTERS,
    AGXC_DEBUG_NO_OPT | AGXC_DEBUG_NO_SCHEDULE},
   {"first_group", agxc_first_group, AGXC_STAGE_REGISTERS, AGXC_DEBUG_NO_OPT},
   {"lower_control", agxc_lower_control, AGXC_STAGE_JUMPS, 0},
   {"test_at_end", agxc_test_at_end, AGXC_STAGE_JUMPS, AGXC_DEBUG_NO_OPT},
   {"drop_barriers", agxc_drop_barriers, AGXC_STAGE_JUMPS, AGXC_DEBUG_NO_OPT},
   {"insert_waits", agxc_insert_waits, AGXC_STAGE_JUMPS, 0},
   {"hints", agxc_hints, AGXC_STAGE_JUMPS, AGXC_DEBUG_NO_OPT},
};

static void show(struct agxc_shader *shader, const char *pass)
{
   const struct agxc_options *options = shader->options;
   if (!options->dump)
      return;
   struct agx_arena_mark mark = agx_arena_mark(shader->arena);
   options->dump(options->dump_user, pass, agxc_print(shader, shader->arena));
   agx_arena_release(shader->arena, mark);
}

static void check(struct agxc_shader *shader, const char *pass, enum agxc_stage stage)
{
   if (!agxc_is_validated(shader))
      return;
   agx_status status = agxc_validate(shader, stage);
   if (status == AGX_OK)
      return;
   agx_error_prefix("%s: after %s", shader->name, pass);
   agxc_leave(shader, status);
}

static void run_from(struct agxc_shader *shader, const char *stage, size_t first)
{
   show(shader, stage);
   check(shader, stage, AGXC_STAGE_GENERIC);
   bool has_spilled = false;
   for (size_t i = first; i < AGX_COUNT(passes); i++) {
      const struct agxc_pass *pass = &passes[i];
      if ((shader->options->debug & pass->skip) || (pass->needs_spill && !has_spilled))
         continue;
      bool progress = pass->run(shader);
      has_spilled |= progress && pass->run == agxc_spill;
      show(shader, pass->name);
      check(shader, pass->name, pass->stage);
   }
}

void agxc_run_pipeline(struct agxc_shader *shader)
{
   run_from(shader, "spirv", 0);
   if (!shader->preamble)
      return;
   size_t behind = 0;
   while (passes[behind].run != agxc_opt_preamble)
      behind++;
   run_from(shader->preamble, "preamble", behind + 1);
}

const struct agxc_pass *agxc_pass_find(const char *name, enum agxc_stage stage)
{
   for (size_t i = 0; i < AGX_COUNT(passes); i++)
      if (strcmp(passes[i].name, name) == 0 &&
          stage == (i ? passes[i - 1].stage : AGXC_STAGE_GENERIC))
         return &passes[i];
   return NULL;
}

const char *agxc_pass_name(size_t index)
{
   return index < AGX_COUNT(passes) ? passes[index].name : NULL;
}
