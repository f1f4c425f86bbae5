/* SPDX-License-Identifier: MIT
 *
 * From what an application hands in to a module: SPIR-V through the compiler and its caches, or an
 * ELF file through its reader.
 */
#include <stdio.h>
#include <string.h>

#include "agx/compiler/compiler.h"
#include "base/debug.h"
#include "base/util.h"
#include "hal/core/desc.h"
#include "hal/executable/executable.h"
#include "hal/executable/state.h"
#include "hal/executable/executable_cache.h"
#include "program/bundle.h"

#define MAX_SPECIALIZATIONS 64
#define AGX_EXECUTABLE_FLAGS                                                                       \
   (AGX_EXECUTABLE_TRANSIENT | AGX_EXECUTABLE_DYNAMIC_LOCAL_SIZE | AGX_EXECUTABLE_DYNAMIC_SHARED | \
    AGX_EXECUTABLE_KEEP_IR)

static agx_status read_attributes(const struct agx_vertex_input *given_input,
                                  struct agx_vertex_input *input,
                                  struct agxc_attribute out[AGX_PROGRAM_MAX_ATTRIBUTES])
{
   AGX_TRY(agx_desc_read("agx_vertex_input", given_input, input, sizeof(*input)));
   if (input->attribute_count > AGX_PROGRAM_MAX_ATTRIBUTES ||
       (input->attribute_count && !input->attributes))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "executable: %u attributes at %p; at most %u",
                      input->attribute_count, (const void *)input->attributes,
                      AGX_PROGRAM_MAX_ATTRIBUTES);
   for (uint32_t i = 0; i < input->attribute_count; i++) {
      const struct agx_vertex_attribute *given = &input->attributes[i];
      const struct agx_vertex_format *format =
         given->format ? agx_vertex_format_find(given->format) : NULL;
      if (!format)
         return AGX_FAIL(AGX_UNIMPLEMENTED,
                         "executable: attribute at location %u: unknown format \"%.64s\"",
                         given->location, given->format ? given->format : "");
      out[i] = (struct agxc_attribute){.location = given->location,
                                       .format = format,
                                       .stride_B = given->stride_B,
                                       .per_instance = given->per_instance,
                                       .divisor = given->divisor};
   }
   return AGX_OK;
}

static const char *const robustness_names[] = {"off", "clamp", "zero"};
_Static_assert((int)AGX_ROBUST_OFF == AGX_PROGRAM_ROBUST_OFF &&
                  (int)AGX_ROBUST_CLAMP == AGX_PROGRAM_ROBUST_CLAMP &&
                  (int)AGX_ROBUST_ZERO == AGX_PROGRAM_ROBUST_ZERO,
               "modes have the same numbers everywhere");
_Static_assert(AGX_VERTEX_SET == AGX_PROGRAM_VERTEX_SET &&
                  AGX_INDEX_BINDING == AGX_PROGRAM_INDEX_BINDING,
               "and so have a vertex stage's buffers");

static agx_status check_robustness(const struct agx_executable_desc *desc)
{
   uint32_t worst = desc->robustness;
   if (desc->override_count > AGX_MAX_BINDINGS || (desc->override_count && !desc->overrides))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "executable: robustness of %u bindings at %p; at most %u",
                      desc->override_count, (const void *)desc->overrides, AGX_MAX_BINDINGS);
   for (uint32_t i = 0; i < desc->override_count; i++)
      worst = AGX_MAX(worst, desc->overrides[i].robustness);
   if (worst > AGX_ROBUST_ZERO)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "executable: robustness %u; the last is AGX_ROBUST_ZERO, 2", worst);
   return AGX_OK;
}

/* ---- SPIR-V ----------------------------------------------------------------- */

struct job {
   struct agx_device *device;
   const struct agx_executable_desc *desc;
   struct agx_kept_ir *ir;
   struct agxc_options options;
   struct agxc_spec specs[MAX_SPECIALIZATIONS];
   struct agxc_robust_binding overrides[AGX_MAX_BINDINGS];
   struct agxc_attribute attributes[AGX_PROGRAM_MAX_ATTRIBUTES];
};

/* What the compiler shows of its work: to who debugs the library, and to applications that ask. */
static void show_pass(void *user, const char *pass, const char *text)
{
   const struct job *job = user;
   const bool is_asm = strcmp(pass, "asm") == 0;
   if (agx_context_of(job->device)->debug & (is_asm ? AGX_DEBUG_ASM : AGX_DEBUG_IR))
      fprintf(stderr, "== %s\n%s\n", pass, text);
   if (job->desc->flags & AGX_EXECUTABLE_KEEP_IR)
      agx_kept_ir_add(job->ir, pass, text);
}

static agx_status copy_lists(struct job *job)
{
   const struct agx_executable_desc *desc = job->desc;
   if (desc->specialization_count > MAX_SPECIALIZATIONS)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "executable: %u specialization constants; the limit is %u",
                      desc->specialization_count, MAX_SPECIALIZATIONS);
   for (uint32_t i = 0; i < desc->specialization_count; i++) {
      const struct agx_specialization *given = &desc->specializations[i];
      job->specs[i] = (struct agxc_spec){given->id, given->bytes, given->value};
   }
   for (uint32_t i = 0; i < desc->override_count; i++) {
      const struct agx_binding_robustness *given = &desc->overrides[i];
      job->overrides[i] = (struct agxc_robust_binding){given->set, given->binding,
                                                       (enum agxc_robustness)given->robustness};
   }
   return AGX_OK;
}

static agx_status translate(struct job *job)
{
   const struct agx_executable_desc *desc = job->desc;
   struct agx_device *device = job->device;
   AGX_TRY(copy_lists(job));
   struct agx_vertex_input vertex = {0};
   if (desc->vertex)
      AGX_TRY(read_attributes(desc->vertex, &vertex, job->attributes));
   bool shows = agx_context_of(device)->debug & (AGX_DEBUG_IR | AGX_DEBUG_ASM) ||
                desc->flags & AGX_EXECUTABLE_KEEP_IR;
   job->options = (struct agxc_options){
      .chip = agxw_device_info(agx_context_of(device)->winsys)->chip,
      .entry = desc->entry,
      .specs = job->specs,
      .spec_count = desc->specialization_count,
      .robustness = (enum agxc_robustness)desc->robustness,
      .robust_bindings = job->overrides,
      .robust_binding_count = desc->override_count,
      .attributes = job->attributes,
      .attribute_count = vertex.attribute_count,
      .index_B = vertex.index_B,
      .heap_sets = desc->heap_sets,
      .has_dynamic_local_size = desc->flags & AGX_EXECUTABLE_DYNAMIC_LOCAL_SIZE,
      .has_dynamic_shared = desc->flags & AGX_EXECUTABLE_DYNAMIC_SHARED,
      .debug = (agx_context_of(device)->debug & AGX_DEBUG_NO_OPT ? AGXC_DEBUG_NO_OPT : 0u) |
               (agx_context_of(device)->debug & AGX_DEBUG_VALIDATE ? AGXC_DEBUG_VALIDATE : 0u),
      .alloc = agx_context_of(device)->alloc,
      .dump = shows ? show_pass : NULL,
      .dump_user = job,
   };
   return AGX_OK;
}

static agx_status make(void *user, struct agx_module **out_module)
{
   struct job *job = user;
   return agxc_compile_module(job->desc->data, job->desc->data_B, &job->options, out_module);
}

/* Compiled anew: no cache has the texts. */
static agx_status make_with_ir(struct job *job, struct agx_module **out_module)
{
   job->ir->alloc = agx_context_of(job->device)->alloc;
   AGX_TRY(make(job, out_module));
   agx_status status = agx_kept_ir_finish(job->ir, (*out_module)->program_count);
   if (status == AGX_OK)
      return AGX_OK;
   agx_module_release(*out_module);
   *out_module = NULL;
   return status;
}

static agx_status load_spirv(struct agx_device *device, const struct agx_executable_desc *desc,
                             struct agx_kept_ir *ir, struct agx_module **out_module)
{
   struct job job = {.device = device, .desc = desc, .ir = ir};
   struct agx_cache_key key;
   AGX_TRY(translate(&job));
   if (desc->flags & AGX_EXECUTABLE_KEEP_IR)
      return make_with_ir(&job, out_module);
   if (desc->flags & AGX_EXECUTABLE_TRANSIENT)
      return make(&job, out_module);
   agx_cache_key_make(desc->data, desc->data_B, &job.options, NULL, &key);
   return agx_executable_cache_find_or_make(agx_executables_of(device)->cache, &key,
                                            (struct agx_module_maker){make, &job}, out_module);
}

/* ---- ELF files --------------------------------------------------------------- */

static uint32_t wanted_robustness(const struct agx_executable_desc *desc,
                                  const struct agx_program_binding *binding)
{
   for (uint32_t i = 0; i < desc->override_count; i++)
      if (desc->overrides[i].set == binding->set && desc->overrides[i].binding == binding->binding)
         return desc->overrides[i].robustness;
   return desc->robustness;
}

/* That a file was compiled as the caller relies on. */
static agx_status check_compiled(const struct agx_executable_desc *desc,
                                 const struct agx_program *program)
{
   for (uint32_t i = 0; i < program->binding_count; i++) {
      const struct agx_program_binding *binding = &program->bindings[i];
      uint32_t wanted = wanted_robustness(desc, binding);
      if (binding->kind == AGX_BINDING_INDEX_BUFFER)
         wanted = AGX_MAX(wanted, (uint32_t)AGX_ROBUST_CLAMP);
      if (binding->kind == AGX_BINDING_FEEDBACK_BUFFER)
         continue;
      if (agx_binding_is_buffer(binding->kind) && wanted != binding->robustness)
         return AGX_FAIL(AGX_INCOMPATIBLE,
                         "executable %s: set %u binding %u was compiled with robustness %s, not %s",
                         program->name, binding->set, binding->binding,
                         robustness_names[binding->robustness % AGX_COUNT(robustness_names)],
                         robustness_names[wanted % AGX_COUNT(robustness_names)]);
   }
   return AGX_OK;
}

/* The one entry point that the caller wants, or all. */
static agx_status pick(const struct agx_executable_desc *desc, const struct agx_module *module)
{
   if (desc->entry && agx_module_find(module, desc->entry) == module->program_count)
      return AGX_FAIL(AGX_NOT_FOUND, "executable: an ELF file without entry point %.64s",
                      desc->entry);
   for (uint32_t i = 0; i < module->program_count; i++) {
      const struct agx_program *program = module->programs[i];
      if (desc->robustness || desc->override_count)
         AGX_TRY(check_compiled(desc, program));
      if (desc->flags & AGX_EXECUTABLE_DYNAMIC_LOCAL_SIZE && !program->has_dynamic_local_size)
         return AGX_FAIL(AGX_INCOMPATIBLE,
                         "executable %s: compiled for workgroups of %ux%ux%u threads, without "
                         "AGX_EXECUTABLE_DYNAMIC_LOCAL_SIZE",
                         program->name, program->local_size[0], program->local_size[1],
                         program->local_size[2]);
   }
   return AGX_OK;
}

static agx_status load_elf(struct agx_device *device, const struct agx_executable_desc *desc,
                           struct agx_module **out_module)
{
   if (desc->specialization_count)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "executable: specialization constants for an ELF file, which has none left");
   if (desc->vertex)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "executable: vertex input for an ELF file, which has its own");
   AGX_TRY(agx_bundle_read_module(desc->data, desc->data_B,
                                  agxw_device_info(agx_context_of(device)->winsys)->chip->name,
                                  agx_context_of(device)->alloc, out_module));
   agx_status status = pick(desc, *out_module);
   if (status == AGX_OK)
      return AGX_OK;
   agx_module_release(*out_module);
   *out_module = NULL;
   return status;
}

agx_status agx_executable_load(struct agx_device *device, const struct agx_executable_desc *desc,
                               struct agx_kept_ir *ir, struct agx_module **out_module)
{
   *out_module = NULL;
   AGX_TRY(check_robustness(desc));
   AGX_TRY(agx_bits_check("executable", "flags", desc->flags, AGX_EXECUTABLE_FLAGS));
   if (!desc->data || desc->data_B == 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "executable: no data");
   if (agx_program_is_spirv(desc->data, desc->data_B))
      return load_spirv(device, desc, ir, out_module);
   if (agx_program_is_elf(desc->data, desc->data_B))
      return load_elf(device, desc, out_module);
   return AGX_FAIL(AGX_INVALID_ARGUMENT,
                   "executable: %zu bytes that are neither SPIR-V nor an ELF file", desc->data_B);
}
