/* SPDX-License-Identifier: MIT
 *
 * Executables: SPIR-V through the compiler, or an ELF file through its reader; then the
 * machine code into the USC window.
 */
#include "hal/executable.h"

#include <stdio.h>
#include <string.h>

#include "agx/compiler/compiler.h"
#include "base/debug.h"
#include "base/util.h"
#include "hal/desc.h"

/* Entry points are placed at this alignment by every known compiler.
 * Source: reference/isa, section 1. */
#define CODE_ALIGN 128u
/* The prefetcher reads on behind the end. Source: reference/cmdstream, cdm.md 2.2. */
#define CODE_TAIL_B 256u

#define MAX_SPECIALIZATIONS 64

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
         return AGX_FAIL(AGX_UNIMPLEMENTED, "executable: attribute at location %u: format \"%s\"",
                         given->location, given->format ? given->format : "");
      out[i] = (struct agxc_attribute){.location = given->location,
                                       .format = format,
                                       .stride_B = given->stride_B,
                                       .per_instance = given->per_instance,
                                       .divisor = given->divisor};
   }
   return AGX_OK;
}

static void dump_pass(void *user, const char *pass, const char *text)
{
   uint32_t debug = *(const uint32_t *)user;
   bool is_asm = strcmp(pass, "asm") == 0;
   if (debug & (is_asm ? AGX_DEBUG_ASM : AGX_DEBUG_IR))
      fprintf(stderr, "== %s\n%s\n", pass, text);
}

static agx_status compile(struct agx_device *device, const struct agx_executable_desc *desc,
                          struct agx_program **out_program)
{
   struct agxc_spec specs[MAX_SPECIALIZATIONS];
   struct agxc_robust_binding overrides[AGX_MAX_BINDINGS];
   if (desc->specialization_count > MAX_SPECIALIZATIONS)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "executable: %u specialization constants; the limit is %u",
                      desc->specialization_count, MAX_SPECIALIZATIONS);
   for (uint32_t i = 0; i < desc->specialization_count; i++) {
      const struct agx_specialization *given = &desc->specializations[i];
      specs[i] = (struct agxc_spec){given->id, given->bytes, given->value};
   }
   for (uint32_t i = 0; i < desc->override_count; i++) {
      const struct agx_binding_robustness *given = &desc->overrides[i];
      overrides[i] = (struct agxc_robust_binding){given->set, given->binding,
                                                  (enum agxc_robustness)given->robustness};
   }
   struct agx_vertex_input vertex = {0};
   struct agxc_attribute attributes[AGX_PROGRAM_MAX_ATTRIBUTES];
   if (desc->vertex)
      AGX_TRY(read_attributes(desc->vertex, &vertex, attributes));
   bool dumps = device->debug & (AGX_DEBUG_IR | AGX_DEBUG_ASM);
   struct agxc_options options = {
      .chip = agxw_device_info(device->winsys)->chip,
      .entry = desc->entry,
      .specs = specs,
      .spec_count = desc->specialization_count,
      .robustness = (enum agxc_robustness)desc->robustness,
      .robust_bindings = overrides,
      .robust_binding_count = desc->override_count,
      .attributes = attributes,
      .attribute_count = vertex.attribute_count,
      .index_B = vertex.index_B,
      .debug = (device->debug & AGX_DEBUG_NO_OPT ? AGXC_DEBUG_NO_OPT : 0u) |
               (device->debug & AGX_DEBUG_VALIDATE ? AGXC_DEBUG_VALIDATE : 0u),
      .alloc = device->alloc,
      .dump = dumps ? dump_pass : NULL,
      .dump_user = &device->debug,
   };
   return agxc_compile(desc->data, desc->data_B, &options, out_program);
}

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
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "executable: robustness of %u bindings at %p",
                      desc->override_count, (const void *)desc->overrides);
   for (uint32_t i = 0; i < desc->override_count; i++)
      worst = AGX_MAX(worst, desc->overrides[i].robustness);
   if (worst > AGX_ROBUST_ZERO)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "executable: robustness %u", worst);
   return AGX_OK;
}

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
                         "executable %s: set %u binding %u was compiled with robustness %u, not %u",
                         program->name, binding->set, binding->binding, binding->robustness,
                         wanted);
   }
   return AGX_OK;
}

static agx_status load_program(struct agx_device *device, const struct agx_executable_desc *desc,
                               struct agx_program **out_program)
{
   AGX_TRY(check_robustness(desc));
   if (!desc->data || desc->data_B == 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "executable: no data");
   if (agx_program_is_spirv(desc->data, desc->data_B))
      return compile(device, desc, out_program);
   if (!agx_program_is_elf(desc->data, desc->data_B))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "executable: %zu bytes that are neither SPIR-V nor an ELF file",
                      desc->data_B);
   if (desc->specialization_count)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "executable: specialization constants for an ELF file, which has none left");
   if (desc->vertex)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "executable: vertex input for an ELF file, which has its own");
   AGX_TRY(agx_program_read_elf(desc->data, desc->data_B, device->alloc, out_program));
   const char *chip = agxw_device_info(device->winsys)->chip->name;
   agx_status status = AGX_OK;
   if (strcmp((*out_program)->chip, chip) != 0)
      status = AGX_FAIL(AGX_INCOMPATIBLE, "executable: compiled for %s; this device is %s",
                        (*out_program)->chip, chip);
   else if (desc->robustness || desc->override_count)
      status = check_compiled(desc, *out_program);
   if (status == AGX_OK)
      return AGX_OK;
   agx_program_free(*out_program);
   *out_program = NULL;
   return status;
}

/* Places the machine code, and remembers where. */
static agx_status upload(struct agx_executable *executable)
{
   const struct agx_program *program = executable->program;
   struct agx_device *device = executable->device;
   uint64_t preamble_at = agx_align_up(program->code_B, CODE_ALIGN);
   uint64_t size = preamble_at + program->preamble_B + CODE_TAIL_B;
   void *memory = NULL;
   AGX_TRY(agxw_bo_create(device->winsys, size, 0, AGXW_BO_USC | AGXW_BO_READ_ONLY, program->name,
                          &executable->bo));
   AGX_TRY(agxw_bo_map(executable->bo, &memory));
   memcpy(memory, program->code, program->code_B);
   if (program->preamble_B)
      memcpy((char *)memory + preamble_at, program->preamble, program->preamble_B);
   uint64_t offset = agxw_bo_va(executable->bo) - agxw_device_info(device->winsys)->usc_base;
   executable->code_offset_B = (uint32_t)offset;
   executable->preamble_offset_B = (uint32_t)(offset + preamble_at);
   return AGX_OK;
}

static void destroy(struct agx_executable *executable)
{
   struct agx_device *device = executable->device;
   if (executable->bo)
      agxw_bo_destroy(executable->bo);
   if (executable->inside)
      agx_release(executable->inside);
   agx_program_free(executable->program);
   bool is_own = executable->is_own;
   agx_host_free(device->alloc, executable, sizeof(*executable));
   if (!is_own)
      agx_release(device);
}

static void executable_destroy(struct agx_object *object)
{
   destroy(agx_container_of(object, struct agx_executable, object));
}

static const struct agx_object_type executable_type = {"executable", executable_destroy};

static uint32_t provided_uniform_B(const struct agx_program *program)
{
   uint32_t halves = 0;
   for (uint32_t i = 0; i < program->uniform_count; i++)
      halves = AGX_MAX(halves, program->uniforms[i].start + program->uniforms[i].halves);
   return (uint32_t)agx_align_up(halves * 2u, 4);
}

static agx_status check_program(const struct agx_program *program,
                                const struct agxw_device_info *info)
{
   uint32_t threads = program->local_size[0] * program->local_size[1] * program->local_size[2];
   if (threads > agx_occupancy_threads(program->gpr_halves))
      return AGX_FAIL(AGX_OUT_OF_RANGE,
                      "executable %s: a workgroup of %u threads with %u register halves each does "
                      "not fit on a core",
                      program->name, threads, program->gpr_halves);
   /* Hardware gets scratch memory from a helper program whose protocol is not known well
    * enough; the virtual device gives it by itself [U]. */
   if (program->scratch_B && !info->is_virtual)
      return AGX_FAIL(AGX_UNIMPLEMENTED,
                      "executable %s: needs %u bytes of scratch memory for each thread, which only "
                      "the virtual device has yet",
                      program->name, program->scratch_B);
   return AGX_OK;
}

static struct agx_executable *executable_new(struct agx_device *device, bool is_own)
{
   struct agx_executable *executable = agx_host_zalloc(device->alloc, sizeof(*executable));
   if (!executable)
      return NULL;
   agx_object_init(&executable->object, &executable_type);
   if (!is_own)
      agx_retain(device);
   executable->is_own = is_own;
   executable->device = device;
   return executable;
}

static agx_status place(struct agx_executable *executable)
{
   const struct agxw_device_info *info = agxw_device_info(executable->device->winsys);
   AGX_TRY(check_program(executable->program, info));
   AGX_TRY(upload(executable));
   AGX_TRY(agx_executable_pack(executable));
   executable->uniform_B = provided_uniform_B(executable->program);
   return AGX_OK;
}

static agx_status place_inside(struct agx_executable *executable)
{
   const struct agx_program *program = executable->program->inside;
   struct agx_device *device = executable->device;
   if (!program || device->debug & AGX_DEBUG_CHECKED)
      return AGX_OK;
   struct agx_executable *inside = executable_new(device, executable->is_own);
   if (!inside)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "executable: out of host memory");
   agx_status status = agx_program_copy(program, device->alloc, &inside->program);
   if (status == AGX_OK)
      status = place(inside);
   if (status != AGX_OK) {
      destroy(inside);
      return status;
   }
   executable->inside = inside;
   return AGX_OK;
}

agx_status agx_executable_create(struct agx_device *device, const struct agx_executable_desc *desc,
                                 struct agx_executable **out_executable)
{
   struct agx_executable_desc read;
   *out_executable = NULL;
   AGX_TRY(agx_desc_read("agx_executable_desc", desc, &read, sizeof(read)));
   struct agx_executable *executable = executable_new(device, false);
   if (!executable)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "executable: out of host memory");
   agx_status status = load_program(device, &read, &executable->program);
   if (status == AGX_OK)
      status = place(executable);
   if (status == AGX_OK)
      status = place_inside(executable);
   if (status != AGX_OK) {
      destroy(executable);
      return status;
   }
   *out_executable = executable;
   return AGX_OK;
}

agx_status agx_executable_create_own(struct agx_device *device, struct agx_program *program,
                                     struct agx_executable **out_executable)
{
   struct agx_executable *executable = executable_new(device, true);
   *out_executable = NULL;
   if (!executable) {
      agx_program_free(program);
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "executable: out of host memory");
   }
   executable->program = program;
   agx_status status = place(executable);
   if (status != AGX_OK) {
      destroy(executable);
      return status;
   }
   *out_executable = executable;
   return AGX_OK;
}

/* Whole workgroups that a core holds at once, in SIMD-groups.
 * Source: reference/perf.md, "occ": registers and 60 KiB of threadgroup memory. */
static uint32_t resident_simdgroups(const struct agx_program *program)
{
   const uint32_t core_shared_B = 60u << 10;
   uint32_t threads = program->local_size[0] * program->local_size[1] * program->local_size[2];
   uint32_t groups = (uint32_t)agx_div_up(threads, AGX_SIMD_LANES);
   uint32_t workgroups = agx_occupancy_threads(program->gpr_halves) / (groups * AGX_SIMD_LANES);
   if (program->shared_B)
      workgroups = AGX_MIN(workgroups, core_shared_B / program->shared_B);
   return AGX_MAX(workgroups, 1u) * groups;
}

void agx_executable_get_info(struct agx_executable *executable,
                             struct agx_executable_info *out_info)
{
   const struct agx_program *program = executable->program;
   struct agx_executable_info info = {
      .local_size = {program->local_size[0], program->local_size[1], program->local_size[2]},
      .shared_B = program->shared_B,
      .push_B = program->push_B,
      .binding_count = program->binding_count,
      .instructions = program->stats.instructions,
      .preamble_instructions = program->stats.preamble_instructions,
      .code_B = program->text_B,
      .gpr_halves = program->gpr_halves,
      .uniform_halves = program->uniform_halves,
      .resident_threads = agx_occupancy_threads(program->gpr_halves),
      .resident_simdgroups = resident_simdgroups(program),
      .cycles = program->stats.cycles,
      .is_vertex = program->is_vertex,
   };
   snprintf(info.name, sizeof(info.name), "%s", program->name);
   agx_info_write(out_info, &info, sizeof(info));
}

agx_status agx_executable_get_binding(struct agx_executable *executable, uint32_t index,
                                      struct agx_binding_info *out_info)
{
   const struct agx_program *program = executable->program;
   if (index >= program->binding_count)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "executable %s: binding %u of %u", program->name, index,
                      program->binding_count);
   const struct agx_program_binding *binding = &program->bindings[index];
   struct agx_binding_info info = {
      .set = binding->set,
      .binding = binding->binding,
      .type = binding->kind, /* the numbers are the same */
      .is_written = binding->access & AGX_BINDING_WRITES,
      .element = binding->element,
      .has_atomics = binding->access & AGX_BINDING_ATOMICS,
      .robustness = binding->robustness, /* here too */
      .stride_B = binding->stride_B,
      .element_B = binding->element_B,
      .per_instance = binding->per_instance,
      .divisor = binding->divisor,
      .elements = binding->elements,
   };
   if (binding->kind == AGX_BINDING_FEEDBACK_BUFFER)
      info.binding -= AGX_PROGRAM_FEEDBACK_BINDING;
   agx_info_write(out_info, &info, sizeof(info));
   return AGX_OK;
}
