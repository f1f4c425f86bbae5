/* SPDX-License-Identifier: MIT
 *
 * The compiler's entry. The passes behind it are being written; until they stand, every
 * module is refused.
 */
#include "agx/compiler/compiler.h"

agx_status agxc_compile(const void *spirv, size_t size, const struct agxc_options *options,
                        struct agx_program **out_program)
{
   *out_program = NULL;
   return AGX_FAIL(AGX_UNIMPLEMENTED, "compiler: SPIR-V of %zu bytes: no passes yet", size);
}
