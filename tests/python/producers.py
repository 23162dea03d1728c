# SPDX-License-Identifier: Apache-2.0
"""Producers of DLPack for tests, made with ctypes: arrays that say that they are on a device, of old and new versions of
the protocol, with and without a table of functions (__dlpack_c_exchange_api__). They count what a consumer does."""

import ctypes
import math
import weakref

CPU, CUDA, CUDA_HOST, METAL, CUDA_MANAGED = 1, 2, 3, 8, 13
INT, UINT, FLOAT, BOOL = 0, 1, 2, 6
READ_ONLY, COPIED = 1, 2


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("dtype", Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class Managed(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor),
    ]  # fmt: skip


class ManagedOld(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_IsValid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
api.Py_IncRef.argtypes = [ctypes.py_object]
call_with_pointer = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

NEW_NAME, OLD_NAME, TABLE_NAME = b"dltensor_versioned", b"dltensor", b"dlpack_exchange_api"
lent = {}  # address of a struct: (the struct, its producer)
deleted = []  # producers whose deleter ran, in order
taken = []  # tensors of the consumer that an array was made of


@call_with_pointer
def delete(address):
    """The deleter of all structs. A second call for a struct is a KeyError, which is counted as a deletion, too."""
    struct_and_producer = lent.pop(address, None)
    deleted.append(struct_and_producer[1] if struct_and_producer else "twice")
    sum([1, 2, 3])  # Python's code runs here, whatever exception was set


@call_with_pointer
def destroy(capsule):
    """The destructor of capsules: deletes a tensor that no library took."""
    for name in (NEW_NAME, OLD_NAME):
        if api.PyCapsule_IsValid(capsule, name):
            delete(api.PyCapsule_GetPointer(capsule, name))


class Producer:
    """An array over an object with a buffer. `streams` has what each call of __dlpack__ got."""

    def __init__(self, data, code, bits, shape, device=(CUDA, 0), strides=None, flags=0, offset=0, lanes=1, major=1):
        self.data, self.code, self.bits, self.shape, self.device = data, code, bits, tuple(shape), device
        self.strides, self.flags, self.offset, self.lanes, self.major = strides, flags, offset, lanes, major
        self.memory = (ctypes.c_char * max(1, memoryview(data).nbytes)).from_buffer(data) if len(data) else None
        self.streams, self.versions = [], []

    def fill(self, tensor):
        """Describes the array in a Tensor; returns what must stay with it."""
        shape = (ctypes.c_int64 * max(1, len(self.shape)))(*self.shape)
        strides = self.strides and (ctypes.c_int64 * len(self.strides))(*self.strides)
        tensor.data = ctypes.addressof(self.memory) if self.memory is not None else None
        tensor.device = Device(*self.device)
        tensor.ndim, tensor.dtype = len(self.shape), Type(self.code, self.bits, self.lanes)
        tensor.shape = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
        tensor.strides = ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64))
        tensor.byte_offset = self.offset
        return shape, strides

    def lend(self, new):
        """A struct of the protocol, which the deleter gives back."""
        struct = Managed(major=self.major, minor=0, flags=self.flags) if new else ManagedOld()
        struct.kept = self.fill(struct.tensor)
        struct.deleter = ctypes.cast(delete, ctypes.c_void_p).value
        lent[ctypes.addressof(struct)] = (struct, self)
        return ctypes.addressof(struct)

    def capsule(self, new):
        name = NEW_NAME if new else OLD_NAME
        return api.PyCapsule_New(self.lend(new), name, ctypes.cast(destroy, ctypes.c_void_p))

    def __dlpack__(self, *, stream=None, max_version=None):
        self.streams.append(stream)
        self.versions.append(max_version)
        return self.capsule(bool(max_version) and max_version[0] >= 1)

    def __dlpack_device__(self):
        return self.device


class OldProducer(Producer):
    """Of a version of the protocol without max_version."""

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return self.capsule(False)


def of_u64(numbers, kind=Producer, **more):
    """A producer over an array of uint64."""
    return kind(numbers, UINT, 64, (len(numbers),), **more)


# ---- The table of functions -----------------------------------------------------------------------------------------

pointer_out = ctypes.POINTER(ctypes.c_void_p)
allocate_type = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Tensor), pointer_out, ctypes.c_void_p, ctypes.c_void_p)
from_type = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, pointer_out)
to_type = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, pointer_out)
borrow_type = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Tensor))
stream_type = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, pointer_out)


class Table(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p),
        ("allocate", allocate_type), ("from_object", from_type), ("to_object", to_type), ("borrow", borrow_type),
        ("current_stream", stream_type),
    ]  # fmt: skip


class Exchanged(Producer):
    """A producer with a table of functions; __dlpack__ must not be called."""

    kept = []  # what borrowed tensors point to
    allocated = 0
    asked = []  # devices whose current stream was asked for
    current = 0x50  # that stream

    def __dlpack__(self, **_):
        raise AssertionError("__dlpack__ of a type with a table of functions")

    def tolist(self):
        form = {(UINT, 64): "Q", (UINT, 8): "B", (BOOL, 8): "?"}[self.code, self.bits]
        return memoryview(self.data).cast("B").cast(form).tolist()


def array_over(tensor):
    """An array over the memory of a consumer's tensor."""
    shape = tuple(tensor.shape[: tensor.ndim])
    size = math.prod(shape) * tensor.dtype.bits // 8
    memory = (ctypes.c_char * size).from_address(tensor.data + tensor.byte_offset)
    return Borrowed(memory, tensor.dtype.code, tensor.dtype.bits, shape, (tensor.device.type, tensor.device.id))


def object_at(address):
    return ctypes.cast(address, ctypes.py_object).value


@allocate_type
def allocate(prototype, out, context, set_error):
    want = prototype.contents
    Exchanged.allocated += 1
    size = want.shape[0]
    made = Exchanged(bytearray(b"\xa5" * size), UINT, 8, (size,), (want.device.type, want.device.id))
    out[0] = made.lend(True)
    return 0


@from_type
def from_object(address, out):
    out[0] = object_at(address).lend(True)
    return 0


@to_type
def to_object(address, out):
    if address in lent:
        made = lent[address][1]
        delete(address)
    else:
        managed = Managed.from_address(address)
        made = array_over(managed.tensor)
        weakref.finalize(made, call_with_pointer(managed.deleter), address)
        taken.append(address)
    api.Py_IncRef(made)
    out[0] = id(made)
    return 0


@borrow_type
def borrow(address, tensor):
    Exchanged.kept.append(object_at(address).fill(tensor.contents))
    return 0


@stream_type
def current_stream(kind, number, out):
    Exchanged.asked.append((kind, number))
    out[0] = Exchanged.current
    return 0


def table_of(**functions):
    """A capsule with a table, of version 1."""
    table = Table(major=1, minor=3, allocate=allocate, from_object=from_object, to_object=to_object,
                  current_stream=current_stream, **functions)  # fmt: skip
    Exchanged.kept.append(table)
    return api.PyCapsule_New(ctypes.addressof(table), TABLE_NAME, None)


class Borrowed(Exchanged):
    __dlpack_c_exchange_api__ = table_of(borrow=borrow)


class Lent(Exchanged):
    __dlpack_c_exchange_api__ = table_of()
