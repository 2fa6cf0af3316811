/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wire form of k ascending indices out of n: packed numbers of
 * ceil(log2 n) bits each, or a bitmap of n bits where that is smaller. Both
 * sides choose by (k, n) alone, so that the form takes no bit of the message
 * and both know its bytes.
 *
 * Packed index i occupies the bits [i*width, (i+1)*width) of the wire, bit i of
 * a bitmap is set if index i is one of them; least significant bit first within
 * a byte. The last byte is filled up with zero bits.
 *
 * Indices are of an array of at most 2^32 - 1 elements.
 */
#ifndef APS_COMPRESS_INDICES_H
#define APS_COMPRESS_INDICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits of a packed index: ceil(log2 n), 0 for n = 1 and n = 0. */
unsigned aps_indices_width(size_t n);

/* Is it a bitmap? Where both forms have equally many bits, it is not. */
bool aps_indices_is_bitmap(size_t k, size_t n);

/* Bytes on the wire: min(k * ceil(log2 n), n) bits. k <= n. */
size_t aps_indices_bytes(size_t k, size_t n);

/*
 * k ascending indices in [base, base + n) -> aps_indices_bytes(k, n) bytes,
 * coded as indices of the n elements from `base` on: a slice of an array is
 * sent as indices within the slice.
 */
void aps_indices_encode(const uint32_t *indices, size_t k, uint32_t base,
                        size_t n, void *wire);

/*
 * The inverse: aps_indices_bytes(k, n) bytes -> k indices, which are ascending
 * and lie in [base, base + n). 0, or -1 with errno EPROTO if the bytes are no
 * such indices; then indices[0 ... k-1] are undefined. Nothing else is written.
 */
int aps_indices_decode(const void *wire, size_t k, uint32_t base, size_t n,
                       uint32_t *indices);

/* How many of k ascending indices are below `bound`: where a slice ends. */
size_t aps_indices_below(const uint32_t *indices, size_t k, uint64_t bound);

#endif
