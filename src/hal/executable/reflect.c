/* SPDX-License-Identifier: MIT
 *
 * Answers what applications ask about an executable: entry points, bindings, parameters, constants,
 * and which formats of files it can be made of.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "hal/core/desc.h"
#include "hal/executable/executable.h"

_Static_assert((int)AGX_PARAMETER_BINDING == AGX_PARAMETER_KIND_BINDING &&
                  (int)AGX_PARAMETER_CONSTANT == AGX_PARAMETER_KIND_CONSTANT &&
                  (int)AGX_PARAMETER_POINTER == AGX_PARAMETER_KIND_POINTER &&
                  (int)AGX_SPECIALIZATION_BOOL == AGX_CONSTANT_TYPE_BOOL &&
                  (int)AGX_SPECIALIZATION_UINT == AGX_CONSTANT_TYPE_UINT &&
                  (int)AGX_SPECIALIZATION_INT == AGX_CONSTANT_TYPE_INT &&
                  (int)AGX_SPECIALIZATION_FLOAT == AGX_CONSTANT_TYPE_FLOAT,
               "kinds have the same numbers everywhere");

/* Whole workgroups that a core holds at once, in SIMD-groups.
 * Source: docs/hw/performance.md, "occ": registers and 60 KiB of threadgroup memory. */
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

/* ---- entry points ------------------------------------------------------ */

agx_status agx_executable_resolve(struct agx_executable *executable, uint32_t entry,
                                  struct agx_executable **out_entry)
{
   struct agx_executable *found = agx_executable_entry(executable, entry);
   if (!found)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "executable %s: entry point %u of %u",
                      executable->program->name, entry, executable->entry_count);
   *out_entry = found;
   return AGX_OK;
}

static agx_status find_program(struct agx_executable *executable, uint32_t entry,
                               const struct agx_program **out_program)
{
   struct agx_executable *found = NULL;
   AGX_TRY(agx_executable_resolve(executable, entry, &found));
   *out_program = found->program;
   return AGX_OK;
}

uint32_t agx_executable_get_entry_count(struct agx_executable *executable)
{
   return executable->entry_count;
}

agx_status agx_executable_find_entry(struct agx_executable *executable, const char *name,
                                     uint32_t *out_entry)
{
   *out_entry = 0;
   for (uint32_t i = 0; i < executable->entry_count; i++) {
      if (strcmp(agx_program_name(agx_executable_entry(executable, i)->program), name) != 0)
         continue;
      *out_entry = i;
      return AGX_OK;
   }
   return AGX_FAIL(AGX_NOT_FOUND, "executable %s: no entry point \"%.64s\"",
                   executable->program->name, name);
}

agx_status agx_executable_get_entry_name(struct agx_executable *executable, uint32_t entry,
                                         const char **out_name)
{
   const struct agx_program *program;
   *out_name = NULL;
   AGX_TRY(find_program(executable, entry, &program));
   *out_name = agx_program_name(program);
   return AGX_OK;
}

/* Those that the entry point uses; what else the module declares stands behind them. */
static uint32_t named_parameters(const struct agx_program *program)
{
   uint32_t count = program->parameter_count;
   while (count && program->parameters[count - 1].kind == AGX_PARAMETER_KIND_UNUSED)
      count--;
   return count;
}

static struct agx_executable_info describe(const struct agx_program *program)
{
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
      .scratch_B = program->scratch_B,
      .has_dynamic_local_size = program->has_dynamic_local_size,
      .has_dynamic_shared = program->has_dynamic_shared,
      .parameter_count = named_parameters(program),
      .specialization_count = program->constant_count,
      .max_workgroup_threads =
         AGX_MIN(agx_occupancy_threads(program->gpr_halves), AGX_MAX_WORKGROUP_THREADS),
   };
   snprintf(info.name, sizeof(info.name), "%s", program->name);
   return info;
}

agx_status agx_executable_get_entry(struct agx_executable *executable, uint32_t entry,
                                    struct agx_executable_info *out_info)
{
   const struct agx_program *program = NULL;
   AGX_TRY(find_program(executable, entry, &program));
   const struct agx_executable_info info = describe(program);
   return agx_info_write("agx_executable_info", out_info, &info, sizeof(info));
}

void agx_executable_get_info(struct agx_executable *executable,
                             struct agx_executable_info *out_info)
{
   const struct agx_executable_info info = describe(executable->program);
   agx_info_write_or_log(executable->device, "agx_executable_info", out_info, &info, sizeof(info));
}

/* ---- what they take ------------------------------------------------------ */

agx_status agx_executable_get_entry_binding(struct agx_executable *executable, uint32_t entry,
                                            uint32_t index, struct agx_binding_info *out_info)
{
   const struct agx_program *program = NULL;
   AGX_TRY(find_program(executable, entry, &program));
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
      .in_heap = binding->access & AGX_BINDING_HEAP,
   };
   if (binding->kind == AGX_BINDING_FEEDBACK_BUFFER)
      info.binding -= AGX_PROGRAM_FEEDBACK_BINDING;
   return agx_info_write("agx_binding_info", out_info, &info, sizeof(info));
}

agx_status agx_executable_get_binding(struct agx_executable *executable, uint32_t index,
                                      struct agx_binding_info *out_info)
{
   return agx_executable_get_entry_binding(executable, 0, index, out_info);
}

agx_status agx_executable_get_parameter(struct agx_executable *executable, uint32_t entry,
                                        uint32_t index, struct agx_parameter_info *out_info)
{
   const struct agx_program *program = NULL;
   AGX_TRY(find_program(executable, entry, &program));
   if (index >= named_parameters(program))
      return AGX_FAIL(AGX_OUT_OF_RANGE, "executable %s: parameter %u of %u", program->name, index,
                      named_parameters(program));
   const struct agx_program_parameter *parameter = &program->parameters[index];
   struct agx_parameter_info info = {
      .kind = parameter->kind, /* the numbers are the same */
      .set = parameter->set,
      .binding = parameter->binding,
      .offset_B = parameter->offset_B,
      .size_B = parameter->size_B,
   };
   snprintf(info.name, sizeof(info.name), "%s", program->names + parameter->name);
   return agx_info_write("agx_parameter_info", out_info, &info, sizeof(info));
}

agx_status agx_executable_get_specialization(struct agx_executable *executable, uint32_t entry,
                                             uint32_t index,
                                             struct agx_specialization_info *out_info)
{
   const struct agx_program *program = NULL;
   AGX_TRY(find_program(executable, entry, &program));
   if (index >= program->constant_count)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "executable %s: specialization constant %u of %u",
                      program->name, index, program->constant_count);
   const struct agx_program_constant *constant = &program->constants[index];
   struct agx_specialization_info info = {
      .id = constant->id,
      .type = constant->type, /* here too */
      .bytes = constant->bytes,
      .value = constant->value,
   };
   snprintf(info.name, sizeof(info.name), "%s", program->names + constant->name);
   return agx_info_write("agx_specialization_info", out_info, &info, sizeof(info));
}

/* ---- formats ----------------------------------------------------------------- */

static const char elf_format[] = "agx-elf", spirv_format[] = "spirv";

bool agx_executable_format_is_known(const char *format)
{
   return strcmp(format, elf_format) == 0 || strcmp(format, spirv_format) == 0;
}

/* Where the last of sections and section headers ends. */
static agx_status measure_elf(const uint8_t *bytes, size_t size, size_t *out_used_B)
{
   Elf64_Ehdr header;
   if (size < sizeof(header))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "executable: %zu bytes of an ELF file", size);
   memcpy(&header, bytes, sizeof(header));
   if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
       header.e_machine != EM_NONE || header.e_type != ET_REL ||
       header.e_shentsize != sizeof(Elf64_Shdr))
      return AGX_FAIL(AGX_INCOMPATIBLE, "executable: an ELF file of machine %u, not of ours",
                      header.e_machine);
   uint64_t end = AGX_MAX(header.e_shoff, (uint64_t)sizeof(header));
   for (uint32_t i = 0; i < header.e_shnum;
        i++, end = AGX_MAX(end, header.e_shoff + i * sizeof(Elf64_Shdr))) {
      Elf64_Shdr section;
      if (!agx_range_fits(header.e_shoff + i * sizeof(section), sizeof(section), size))
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "executable: an ELF file that is cut short");
      memcpy(&section, bytes + header.e_shoff + i * sizeof(section), sizeof(section));
      if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL)
         continue;
      if (!agx_range_fits(section.sh_offset, section.sh_size, size))
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "executable: an ELF file that is cut short");
      end = AGX_MAX(end, section.sh_offset + section.sh_size);
   }
   if (end > size)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "executable: an ELF file that is cut short");
   *out_used_B = (size_t)end;
   return AGX_OK;
}

agx_status agx_executable_infer_format(const void *data, size_t data_B, const char **out_format,
                                       size_t *out_used_B)
{
   *out_format = NULL;
   *out_used_B = 0;
   if (!data)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "executable: no data");
   if (agx_program_is_elf(data, data_B)) {
      AGX_TRY(measure_elf(data, data_B, out_used_B));
      *out_format = elf_format;
      return AGX_OK;
   }
   if (!agx_program_is_spirv(data, data_B))
      return AGX_FAIL(AGX_INCOMPATIBLE,
                      "executable: %zu bytes that are neither SPIR-V nor an ELF file", data_B);
   *out_format = spirv_format;
   *out_used_B = data_B / 4 * 4;
   return AGX_OK;
}
