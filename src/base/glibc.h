/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Versions of symbols as in glibc 2.28: a library that is compiled with a later
 * glibc then runs with glibc 2.28, too. config.h includes this file.
 *
 * Later versions moved functions of libpthread, libdl and librt into libc, and
 * gave some of libm another way to set errno. glibc keeps the old versions, with
 * the same results except the sign of a NaN.
 */
#ifndef APS_BASE_GLIBC_H
#define APS_BASE_GLIBC_H

#include <features.h>

#if defined __GLIBC__ && (defined __x86_64__ || defined __aarch64__)

#ifdef __x86_64__
#define APS_GLIBC_FIRST "GLIBC_2.2.5"
#define APS_GLIBC_LATER "GLIBC_2.3.3"
#define APS_GLIBC_STAT 1
#else
#define APS_GLIBC_FIRST "GLIBC_2.17"
#define APS_GLIBC_LATER "GLIBC_2.17"
#define APS_GLIBC_STAT 0
#endif

#define APS_GLIBC_NAME(name, version)                                          \
    __asm__(".symver " #name ", " #name "@" version)

#if __GLIBC_PREREQ(2, 29)
APS_GLIBC_NAME(exp2, APS_GLIBC_FIRST);
APS_GLIBC_NAME(log, APS_GLIBC_FIRST);
APS_GLIBC_NAME(log2, APS_GLIBC_FIRST);
APS_GLIBC_NAME(pow, APS_GLIBC_FIRST);
#endif
#if __GLIBC_PREREQ(2, 32)
APS_GLIBC_NAME(pthread_getattr_np, APS_GLIBC_FIRST);
APS_GLIBC_NAME(pthread_sigmask, APS_GLIBC_FIRST);
#endif
#if __GLIBC_PREREQ(2, 33)
#include <sys/stat.h>
int __fxstat(int version, int fd, struct stat *found);
int __xstat(int version, const char *path, struct stat *found);
#define fstat(fd, found) __fxstat(APS_GLIBC_STAT, fd, found)
#define stat(path, found) __xstat(APS_GLIBC_STAT, path, found)
#endif
#if __GLIBC_PREREQ(2, 34)
APS_GLIBC_NAME(dladdr, APS_GLIBC_FIRST);
APS_GLIBC_NAME(dladdr1, APS_GLIBC_LATER);
APS_GLIBC_NAME(dlclose, APS_GLIBC_FIRST);
APS_GLIBC_NAME(dlerror, APS_GLIBC_FIRST);
APS_GLIBC_NAME(dlopen, APS_GLIBC_FIRST);
APS_GLIBC_NAME(dlsym, APS_GLIBC_FIRST);
APS_GLIBC_NAME(pthread_attr_getstack, APS_GLIBC_FIRST);
APS_GLIBC_NAME(pthread_attr_setstacksize, APS_GLIBC_FIRST);
APS_GLIBC_NAME(pthread_create, APS_GLIBC_FIRST);
APS_GLIBC_NAME(pthread_detach, APS_GLIBC_FIRST);
APS_GLIBC_NAME(pthread_join, APS_GLIBC_FIRST);
APS_GLIBC_NAME(pthread_mutex_trylock, APS_GLIBC_FIRST);
APS_GLIBC_NAME(pthread_once, APS_GLIBC_FIRST);
#endif

#endif
#endif
