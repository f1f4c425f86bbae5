/* SPDX-License-Identifier: MIT
 *
 * SHA-256 of things one behind the other, from nettle.
 */
#pragma once

#include <nettle/sha2.h>
#include <nettle/version.h>
#include <stdint.h>
#include <string.h>

#define AGX_DIGEST_B SHA256_DIGEST_SIZE

struct agx_digest {
   struct sha256_ctx context;
   uint64_t bytes; /* so far */
};

/* Starts a digest of nothing. */
static inline void agx_digest_init(struct agx_digest *digest)
{
   sha256_init(&digest->context);
   digest->bytes = 0;
}

/* Adds size bytes; bytes may be NULL where size is 0. */
static inline void agx_digest_add(struct agx_digest *digest, const void *bytes, size_t size)
{
   if (size)
      sha256_update(&digest->context, size, bytes);
   digest->bytes += size;
}

/* A number, little-endian on every host. */
static inline void agx_digest_add_u64(struct agx_digest *digest, uint64_t value)
{
   uint8_t bytes[8];
   for (unsigned i = 0; i < sizeof(bytes); i++)
      bytes[i] = (uint8_t)(value >> 8 * i);
   agx_digest_add(digest, bytes, sizeof(bytes));
}

/* A text with its length, so that none runs into the next; NULL differs from "". */
static inline void agx_digest_add_text(struct agx_digest *digest, const char *text)
{
   size_t length = text ? strlen(text) : 0;
   agx_digest_add_u64(digest, text ? length + 1 : 0);
   agx_digest_add(digest, text, length);
}

/* Writes the digest of all that was added. The digest then needs agx_digest_init again. */
static inline void agx_digest_end(struct agx_digest *digest, uint8_t out[AGX_DIGEST_B])
{
#if NETTLE_VERSION_MAJOR >= 4
   sha256_digest(&digest->context, out);
#else
   sha256_digest(&digest->context, AGX_DIGEST_B, out);
#endif
}
