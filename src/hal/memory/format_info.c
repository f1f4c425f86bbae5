/* SPDX-License-Identifier: MIT
 *
 * What applications ask of image formats before they make images (agx/image.h).
 */
#include "agx/format.h"
#include "agx/hw/packet.h"
#include "agx/image.h"
#include "hal/core/desc.h"

agx_status agx_format_get_info(const char *name, struct agx_format_info *out_info)
{
   const struct agx_format *format = name ? agx_format_find(name) : NULL;
   if (!format)
      return AGX_FAIL(AGX_UNIMPLEMENTED, "format: unknown format %.64s", name ? name : "NULL");
   const bool is_integer =
      format->type == AGX_HW_TEXTURE_TYPE_UINT || format->type == AGX_HW_TEXTURE_TYPE_SINT;
   const struct agx_format_info info = {
      .texel_B = format->texel_B,
      .is_integer = is_integer,
      .is_filterable = !is_integer,
      .is_storable = format->is_storable,
      .has_atomics = is_integer && format->texel_B == 4 && format->is_storable,
      .is_srgb = format->is_srgb,
   };
   return agx_info_write("agx_format_info", out_info, &info, sizeof(info));
}
