/* SPDX-License-Identifier: Apache-2.0
 *
 * codec.h - what reading (stream.c) and writing (sink.c) share: which codec, and memory for zstd and
 * zlib through the seam. Both free without a size, so every block carries its own in front.
 */
#ifndef HD_CODEC_H
#define HD_CODEC_H

#include "base/seam.h"

typedef enum hd_codec { HD_PLAIN, HD_GZIP, HD_ZSTD } hd_codec;

/* 64: what the codecs find behind it is aligned as malloc would, and to a cache line. */
enum { CODEC_FRONT = 64 };

static inline void *codec_take(void *seams, size_t bytes)
{
    const hd_seams *s = (const hd_seams *)seams;
    if (bytes > SIZE_MAX - CODEC_FRONT) return NULL;
    char *p = (char *)s->memory.take(s->memory.self, bytes + CODEC_FRONT, CODEC_FRONT);
    if (!p) return NULL;
    *(size_t *)(void *)p = bytes;
    return p + CODEC_FRONT;
}

static inline void codec_give(void *seams, void *p)
{
    const hd_seams *s = (const hd_seams *)seams;
    if (!p) return;
    char *front = (char *)p - CODEC_FRONT;
    s->memory.give(s->memory.self, front, *(size_t *)(void *)front + CODEC_FRONT);
}

/* In the shape of zlib's zalloc. */
static inline void *codec_take_many(void *seams, unsigned count, unsigned size)
{
    return codec_take(seams, (size_t)count * size);
}

#endif
