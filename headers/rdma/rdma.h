/*
 * The input of jextract: the headers of libibverbs, librdmacm and rsocket.
 *
 * Many structs of libibverbs contain a mutex and a condition, which Java does not access. They are opaque here, which keeps internals of glibc out of
 * the generated classes.
 */
#include <pthread.h>
#include <stdint.h>

struct native_mutex {
	uint64_t words[sizeof(pthread_mutex_t) / sizeof(uint64_t)];
};

struct native_condition {
	uint64_t words[sizeof(pthread_cond_t) / sizeof(uint64_t)];
};

#define pthread_mutex_t struct native_mutex
#define pthread_cond_t struct native_condition
#pragma clang diagnostic ignored "-Wincompatible-pointer-types"

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>
