/* SPDX-License-Identifier: MIT
 *
 * Executables as IREE's compiler writes them for its Vulkan target: 64 bytes of header, then a
 * FlatBuffer (https://flatbuffers.dev/internals) of entry points, their layouts, and SPIR-V
 * modules. The reader checks every offset and length, copies nothing and takes no memory; names and
 * modules that it gives lie in the caller's data. It knows nothing of IREE's headers, so that it is
 * built and tested where there are none.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agx/status.h"

#define AGX_IREE_HEADER_B       64
#define AGX_IREE_MAX_EXPORTS    65536u
#define AGX_IREE_MAX_BINDINGS   256u
#define AGX_IREE_MAX_CONSTANT_B 256u /* of push constants, the root of an address table counted */

/* What a call that failed says: the object, its value, the limit. */
struct agx_iree_error {
   char text[256];
};

enum agx_iree_abi {
   AGX_IREE_DESCRIPTORS = 0, /* binding i of the HAL is a storage buffer of set 0 */
   /* A root of AGX_IREE_ROOT_B in the push constants has the address of a table with one 64-bit
    * address for each binding. */
   AGX_IREE_ADDRESSES = 1,
};
#define AGX_IREE_ROOT_B 32

/* Host memory of 64-bit alignment is not needed; a whole file, header included. */
struct agx_iree_container {
   const uint8_t *data; /* the FlatBuffer */
   size_t data_B;
   uint32_t export_count;
   uint32_t exports, modules, layouts, sets; /* where the vectors lie; 0: there is none */
};

struct agx_iree_export {
   const char *name;        /* of the entry point in the module */
   const char *debug_name;  /* as the producer of the module called it; NULL: not said */
   const char *source_file; /* NULL: not said */
   int32_t source_line;     /* 0: not said */
   const void *spirv;       /* not necessarily aligned */
   size_t spirv_B;          /* whole words */
   uint32_t module;         /* exports of one module have the same number */
   uint32_t lanes;          /* of a SIMD-group that the kernel asks for; 0: not said */
   uint32_t abi;            /* enum agx_iree_abi */
   uint32_t binding_count;  /* of the HAL */
   uint32_t constant_count; /* 32-bit words of the HAL's constants */
   uint32_t constants_at_B; /* where they begin in the push constants */
   uint32_t root_at_B;      /* where the root begins; AGX_IREE_ADDRESSES only */
   uint32_t bindings;       /* where agx_iree_export_get_binding finds them */
};

struct agx_iree_binding {
   uint32_t number;      /* of set 0; AGX_IREE_DESCRIPTORS only, else the index */
   uint32_t alignment_B; /* of the address, at least; AGX_IREE_ADDRESSES only, else 1 */
   uint64_t minimum_B;   /* that a kernel needs behind it; AGX_IREE_ADDRESSES only, else 0 */
};

/* Whether data begins as such a file does, and how many bytes belong to it; what those hold is not
 * looked at. data_B may be more than the file has, or SIZE_MAX where the caller doesn't know: then
 * 64 bytes must be readable. */
bool agx_iree_container_infer(const void *data, size_t data_B, size_t *out_used_B);

/* AGX_INVALID_ARGUMENT: no such file, or damaged; AGX_INCOMPATIBLE: of another version;
 * AGX_OUT_OF_RANGE: shorter than it says, or more exports than AGX_IREE_MAX_EXPORTS. Borrows data
 * until the caller has done with the container and its exports. */
agx_status agx_iree_container_open(const void *data, size_t data_B,
                                   struct agx_iree_container *out_container,
                                   struct agx_iree_error *out_error);

/* AGX_OUT_OF_RANGE: there are fewer exports; AGX_INVALID_ARGUMENT: a damaged one;
 * AGX_UNIMPLEMENTED: samplers, several sets of descriptors, arrays of them, checked address tables,
 * more than the limits above. */
agx_status agx_iree_container_get_export(const struct agx_iree_container *container, uint32_t index,
                                         struct agx_iree_export *out_export,
                                         struct agx_iree_error *out_error);

/* Of one binding of the HAL below binding_count; else, and when damaged, as above. */
agx_status agx_iree_export_get_binding(const struct agx_iree_container *container,
                                       const struct agx_iree_export *export_of, uint32_t index,
                                       struct agx_iree_binding *out_binding,
                                       struct agx_iree_error *out_error);

/* The lanes of a SIMD-group that the code of a module was made for, as far as it shows: an
 * execution mode that names them, clusters or exchanges of lanes over more than 32. 0: nothing
 * tells. A module that is no SPIR-V tells nothing. */
uint32_t agx_iree_visible_lanes(const void *spirv, size_t spirv_B);
