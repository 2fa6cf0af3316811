/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wire form of k ascending indices below n: packed numbers of ceil(log2 n)
 * bits each, or a bitmap of n bits if that is smaller. Both sides choose by (k,
 * n), so that the message does not encode the form and both sides know its
 * bytes.
 *
 * Packed index i occupies the bits [i*width, (i+1)*width) of the wire; bit i of
 * a bitmap is set if i is one of the indices; least significant bit first
 * within a byte. The last byte is filled up with zero bits.
 *
 * Indices belong to an array of at most 2^32 - 1 elements.
 */
#ifndef APS_COMPRESS_INDICES_H
#define APS_COMPRESS_INDICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the bits of a packed index: ceil(log2 n), 0 for n = 1 and n = 0. */
unsigned aps_indices_width(size_t n);

/* True if the form is a bitmap. If both forms have the same size, it is not. */
bool aps_indices_is_bitmap(size_t k, size_t n);

/* Returns the bytes on the wire: min(k * ceil(log2 n), n) bits. k <= n. */
size_t aps_indices_bytes(size_t k, size_t n);

/* Encodes k ascending indices in [base, base + n) to aps_indices_bytes(k, n)
 * bytes, as indices of the n elements from `base` on: a slice of an array is
 * sent as indices within the slice. */
void aps_indices_encode(const uint32_t *indices, size_t k, uint32_t base,
                        size_t n, void *wire);

/* Decodes aps_indices_bytes(k, n) bytes to k indices, which are ascending and
 * lie in [base, base + n). Returns 0, or -1 with errno EPROTO if the bytes are
 * not such indices; then indices[0 ... k-1] are undefined. Nothing else is
 * written. */
int aps_indices_decode(const void *wire, size_t k, uint32_t base, size_t n,
                       uint32_t *indices);

/* Returns the number of k ascending indices that are below `bound`, the end of
 * a slice. */
size_t aps_indices_below(const uint32_t *indices, size_t k, uint64_t bound);

#endif
