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

/* COLLECTIVE over MPI_COMM_WORLD. Only rank 0 needs the file. Returns 0, or -1
 * after rank 0 has printed the error; then no rank has images. */
int images_load(const char *file, struct images *set);
void images_free(struct images *set);

/* Returns the path of digits.csv next to the program, which the caller frees. */
char *images_beside(const char *program);

#endif
