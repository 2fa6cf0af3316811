/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The images: a file of lines, 64 features and a label each.
 */
#ifndef DIGITS_IMAGES_H
#define DIGITS_IMAGES_H

/* Feature j of image i is x[i * FEATURES + j], in 0..1. */
struct images {
    int count;
    float *x;
    unsigned char *label;
};

/* COLLECTIVE over MPI_COMM_WORLD. Only rank 0 needs the file. 0, or -1 after it
 * has said what is wrong; then no rank holds images. */
int images_load(const char *file, struct images *set);
void images_free(struct images *set);

/* The path of digits.csv beside the program, to be freed by the caller. */
char *images_beside(const char *program);

#endif
