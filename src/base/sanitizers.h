/* SPDX-License-Identifier: MIT
 *
 * Which sanitizers this is built with, 0 or 1 each; GCC and clang tell it in different ways.
 */
#pragma once

#ifdef __has_feature
#define AGX_HAS_FEATURE(name) __has_feature(name)
#else
#define AGX_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || AGX_HAS_FEATURE(address_sanitizer)
#define AGX_ADDRESS_SANITIZED 1
#else
#define AGX_ADDRESS_SANITIZED 0
#endif

#if defined(__SANITIZE_THREAD__) || AGX_HAS_FEATURE(thread_sanitizer)
#define AGX_THREAD_SANITIZED 1
#else
#define AGX_THREAD_SANITIZED 0
#endif

/* Of both: their runtime takes address space by itself, and wants to be the first library of a
 * process, before any that LD_PRELOAD names. */
#define AGX_SANITIZED (AGX_ADDRESS_SANITIZED || AGX_THREAD_SANITIZED)
