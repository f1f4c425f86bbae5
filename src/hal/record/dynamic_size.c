/* SPDX-License-Identifier: MIT
 *
 * Checks the workgroup size and threadgroup memory that a dispatch chooses, and makes a launch plan
 * for them. The general path of recording calls it.
 */
#include "hal/record/dynamic_size.h"

#include <string.h>

#include "base/util.h"

static agx_status check_size(const struct agx_program *program, const uint32_t size[3])
{
   const uint32_t limit = agx_occupancy_threads(program->gpr_halves);
   const uint32_t most = AGX_MIN(limit, AGX_MAX_WORKGROUP_THREADS);
   if (memcmp(size, program->local_size, sizeof(program->local_size)) == 0)
      return AGX_OK;
   if (!program->has_dynamic_local_size)
      return AGX_FAIL(
         AGX_FAILED_PRECONDITION,
         "dispatch of %s: workgroups of %ux%ux%u threads; it was compiled for %ux%ux%u, "
         "without AGX_EXECUTABLE_DYNAMIC_LOCAL_SIZE",
         program->name, size[0], size[1], size[2], program->local_size[0], program->local_size[1],
         program->local_size[2]);
   for (unsigned i = 0; i < 3; i++)
      if (size[i] > most)
         return AGX_FAIL(AGX_OUT_OF_RANGE, "dispatch of %s: local size %u; at most %u threads",
                         program->name, size[i], most);
   if ((uint64_t)size[0] * size[1] * size[2] > most)
      return AGX_FAIL(
         AGX_OUT_OF_RANGE,
         "dispatch of %s: workgroups of %ux%ux%u threads; with %u register halves each, "
         "at most %u",
         program->name, size[0], size[1], size[2], program->gpr_halves, most);
   return AGX_OK;
}

static agx_status check_shared(const struct agx_program *program, uint32_t more_B)
{
   if (more_B && !program->has_dynamic_shared)
      return AGX_FAIL(AGX_FAILED_PRECONDITION,
                      "dispatch of %s: %u bytes of workgroup memory; it was compiled without "
                      "AGX_EXECUTABLE_DYNAMIC_SHARED, or uses none",
                      program->name, more_B);
   if (more_B > AGX_MAX_SHARED_BYTES || program->shared_B + more_B > AGX_MAX_SHARED_BYTES)
      return AGX_FAIL(AGX_OUT_OF_RANGE,
                      "dispatch of %s: %u bytes of workgroup memory and its own %u; at most %u",
                      program->name, more_B, program->shared_B, AGX_MAX_SHARED_BYTES);
   return AGX_OK;
}

agx_status agx_dynamic_size_resolve(const struct agx_program *program,
                                    struct agx_dispatch *dispatch)
{
   for (unsigned i = 0; i < 3; i++)
      if (dispatch->local_size[i] == 0)
         dispatch->local_size[i] = program->local_size[i];
   AGX_TRY(check_size(program, dispatch->local_size));
   AGX_TRY(check_shared(program, dispatch->shared_B));
   return program->unchecked ? agx_dynamic_size_resolve(program->unchecked, dispatch) : AGX_OK;
}

agx_status agx_dynamic_size_plan(const struct agx_executable *executable,
                                 const struct agx_dispatch *dispatch, struct agx_plan *room,
                                 const struct agx_plan **out_plan)
{
   const struct agx_program *program = executable->program;
   const struct agx_plan_code code = {executable->code_offset_B, executable->preamble_offset_B};
   *out_plan = &executable->plan;
   if (!dispatch->shared_B &&
       memcmp(dispatch->local_size, program->local_size, sizeof(program->local_size)) == 0)
      return AGX_OK;
   *room = executable->plan;
   *out_plan = room;
   return agx_plan_resize(agxw_device_info(agx_context_of(executable->device)->winsys)->chip,
                          program, &code, dispatch->local_size, dispatch->shared_B, room);
}
