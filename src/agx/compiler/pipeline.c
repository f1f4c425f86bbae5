/* SPDX-License-Identifier: MIT
 *
 * The order of the passes, as a table. After each one that changed something the text
 * of the IR goes to the caller, if he asked for it.
 */
#include "agx/compiler/pipeline.h"

#include "agx/compiler/passes.h"

/* Optimizations find new work in each other's results; kernels settle in two or three
 * rounds, hostile ones are cut off here. */
#define MAX_ROUNDS 8

struct pass {
   const char *name;
   bool (*run)(struct agxc_shader *shader);
   bool is_optional; /* AGXC_DEBUG_NO_OPT leaves it out */
};

static const struct pass generic[] = {
   {"copy_prop", agxc_opt_copy_prop, true},
   {"algebraic", agxc_opt_algebraic, true},
   {"cse", agxc_opt_cse, true},
   {"dce", agxc_opt_dce, true},
};

static const struct pass lowering[] = {
   {"lower_buffer", agxc_lower_buffer, false},
   {"lower_division", agxc_lower_division, false},
   {"lower_math", agxc_lower_math, false},
};

static const struct pass machine[] = {
   {"select", agxc_select, false},
   {"machine_dce", agxc_opt_dce, false},
   {"ra", agxc_ra, false},
   {"lower_control", agxc_lower_control, false},
   {"waits", agxc_insert_waits, false},
   {"hints", agxc_hints, true},
};

void agxc_dump(struct agxc_shader *shader, const char *pass)
{
   const struct agxc_options *options = shader->options;
   if (!options->dump)
      return;
   struct agx_arena_mark mark = agx_arena_mark(shader->arena);
   options->dump(options->dump_user, pass, agxc_print(shader, shader->arena));
   agx_arena_release(shader->arena, mark);
}

static bool run(struct agxc_shader *shader, const struct pass *passes, size_t count)
{
   bool changed = false;
   for (size_t i = 0; i < count; i++) {
      if (passes[i].is_optional && shader->options->debug & AGXC_DEBUG_NO_OPT)
         continue;
      if (!passes[i].run(shader))
         continue;
      agxc_dump(shader, passes[i].name);
      changed = true;
   }
   return changed;
}

static void optimize(struct agxc_shader *shader)
{
   for (unsigned i = 0; i < MAX_ROUNDS; i++)
      if (!run(shader, generic, AGX_COUNT(generic)))
         return;
}

void agxc_run_pipeline(struct agxc_shader *shader)
{
   optimize(shader);
   run(shader, lowering, AGX_COUNT(lowering));
   optimize(shader);
   run(shader, machine, AGX_COUNT(machine));
}
