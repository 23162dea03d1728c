/* SPDX-License-Identifier: Apache-2.0
 *
 * dlpack.h - the binary interface of DLPack 1.3 as far as the extension uses it: tensors, the two capsules, and the
 * table of functions that a type may offer as __dlpack_c_exchange_api__. The layout of these structs is fixed by the
 * specification (https://dmlc.github.io/dlpack/latest/).
 */
#ifndef HP_DLPACK_H
#define HP_DLPACK_H

#include <stdint.h>

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };                   /* device types */
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 }; /* type codes   */
enum { DL_READ_ONLY = 1, DL_IS_COPIED = 2 };                                                /* flags        */

typedef struct dl_device {
    int32_t type, id;
} dl_device;

typedef struct dl_type {
    uint8_t code, bits;
    uint16_t lanes;
} dl_type;

typedef struct dl_tensor {
    void *data;
    dl_device device;
    int32_t ndim;
    dl_type type;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: row-major without gaps */
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_version {
    uint32_t major, minor;
} dl_version;

/* The capsule "dltensor_versioned" has this one ... */
typedef struct dl_managed {
    dl_version version;
    void *context;
    void (*deleter)(struct dl_managed *self);
    uint64_t flags;
    dl_tensor tensor;
} dl_managed;

/* ... and the capsule "dltensor" that one. */
typedef struct dl_managed_old {
    dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed_old *self);
} dl_managed_old;

typedef struct dl_exchange_header {
    dl_version version;
    struct dl_exchange_header *previous; /* a table of an earlier major version, or NULL */
} dl_exchange_header;

/* Each function returns 0, or -1 with a Python exception set. */
typedef struct dl_exchange {
    dl_exchange_header header;
    int (*allocate)(dl_tensor *prototype, dl_managed **out, void *context,
                    void (*set_error)(void *context, const char *kind, const char *message));
    int (*from_object)(void *object, dl_managed **out);
    int (*to_object)(dl_managed *tensor, void **object);
    int (*borrow)(void *object, dl_tensor *out); /* valid as long as the object; may be NULL */
    int (*current_stream)(int32_t device_type, int32_t device, void **stream);
} dl_exchange;

#endif
