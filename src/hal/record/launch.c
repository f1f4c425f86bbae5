/* SPDX-License-Identifier: MIT
 *
 * What goes wrong while a launch is written; the writer itself is launch.h.
 */
#include "hal/record/launch.h"

agx_status agx_launch_out_of_reach(const struct agx_launch_inputs *inputs, uint32_t binding)
{
   const struct agx_program *program = inputs->executable->program;
   const struct agx_program_binding *wanted = &program->bindings[binding];
   return AGX_FAIL(AGX_OUT_OF_RANGE,
                   "dispatch of %s: set %u binding %u: %llu bytes at 0x%llx, in a buffer of more "
                   "than 4 GiB: robust accesses need a place for stray ones within 4 GiB",
                   program->name, wanted->set, wanted->binding,
                   (unsigned long long)inputs->lengths_B[binding],
                   (unsigned long long)inputs->addresses[binding]);
}
