# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""The reader of the Arrow C data interface: ``for array in read(source): array.codes()``.

What any Arrow library holds enters here, over its own memory: integers and dictionary indices become codes, the
rest is handed on as it is. Only the C structures of the interface are known, and no library is imported.
"""

cimport cython
from cpython.pycapsule cimport PyCapsule_CheckExact, PyCapsule_GetName, PyCapsule_GetPointer, PyCapsule_IsValid
from libc.string cimport memset

from onehot_fast._arrow.abi cimport ArrowArray, ArrowArrayStream, ArrowSchema
from onehot_fast._arrow.array cimport Array as CArray
from onehot_fast._arrow.array cimport take_array
from onehot_fast._arrow.schema cimport ArrowField as CArrowField
from onehot_fast._arrow.schema cimport schema_of

import os

from onehot_fast._arguments.choices import with_article
from onehot_fast._arrow.array import Array
from onehot_fast._arrow.schema import ArrowField

__all__ = ["Array", "ArrowField", "Stream", "read"]

# What makes a Stream: nobody else has it.
cdef object MAKER = object()


@cython.final
cdef class Stream:
    """The chunks of one source, all of one type; read as they are asked for, once.

    An error of the producer is an OSError with the producer's number and text, and ends the stream.
    """

    cdef ArrowArrayStream stream    # released: at its end, or none
    cdef bint is_busy
    cdef CArray only                # the chunk of a source that is no stream
    cdef readonly CArrowField schema

    def __cinit__(self, maker=None):
        if maker is not MAKER:
            raise TypeError("a Stream is made by reading an Arrow object")

    def __dealloc__(self):
        self.close()

    def __reduce__(self):
        raise TypeError("a Stream of the Arrow C data interface is not pickled")

    def __iter__(self):
        """Return the stream itself."""
        return self

    def __next__(self):
        """Return the next chunk.

        Raises
        ------
        OSError
            The producer reports an error.
        ValueError
            The chunk is malformed.
        RuntimeError
            Another thread waits for a chunk.
        """
        cdef CArray chunk
        self.enter()
        try:
            if self.only is not None:
                chunk = self.only
                self.only = None
                return chunk
            if self.stream.release == NULL:
                raise StopIteration
            return self.pull()
        except BaseException:
            self.close()
            raise
        finally:
            self.is_busy = False

    cdef int enter(self) except -1:
        """Take the stream for this thread: a producer is asked for one chunk at a time."""
        cdef bint was_busy
        with cython.critical_section(self):
            was_busy = self.is_busy
            self.is_busy = True
        if was_busy:
            raise RuntimeError("another thread waits for the next chunk of this Arrow stream")
        return 0

    cdef void close(self) noexcept:
        """Release the stream."""
        if self.stream.release != NULL:
            # Without the GIL: a producer may wait for threads of its own that need it.
            with nogil:
                self.stream.release(&self.stream)
            self.stream.release = NULL

    cdef CArray pull(self):
        """Ask the producer for the next chunk."""
        cdef ArrowArray chunk
        cdef int error
        memset(&chunk, 0, sizeof(chunk))
        with nogil:
            error = self.stream.get_next(&self.stream, &chunk)
        if error != 0:
            self.fail(error)
        if chunk.release == NULL:
            raise StopIteration
        try:
            return take_array(&chunk, self.schema)
        finally:
            if chunk.release != NULL:   # it was refused
                chunk.release(&chunk)

    cdef int fail(self, int error) except -1:
        """Raise what the producer says of its error."""
        cdef const char *text = NULL
        if self.stream.get_last_error != NULL:
            text = self.stream.get_last_error(&self.stream)
        raise OSError(error, os.strerror(error) if text == NULL else (<bytes> text).decode("utf-8", "replace"))

    cdef CArrowField ask_schema(self):
        """Ask the producer for the type of the chunks."""
        cdef ArrowSchema schema
        cdef int error
        memset(&schema, 0, sizeof(schema))
        with nogil:
            error = self.stream.get_schema(&self.stream, &schema)
        if error != 0:
            self.fail(error)
        try:
            return schema_of(&schema, 0)
        finally:
            if schema.release != NULL:
                schema.release(&schema)


cdef void *inside(object capsule, const char *name) except NULL:
    """Return the pointer in a capsule that must have this name."""
    if not PyCapsule_CheckExact(capsule):
        raise TypeError(f"{with_article(capsule)} came where an Arrow capsule {name.decode()!r} is accepted")
    if not PyCapsule_IsValid(capsule, name):
        found = PyCapsule_GetName(capsule)
        came = "without a name" if found == NULL else repr((<bytes> found).decode("utf-8", "replace"))
        raise TypeError(f"a capsule {came} came where an Arrow capsule {name.decode()!r} is accepted")
    return PyCapsule_GetPointer(capsule, name)


cdef Stream read_pair(object pair):
    """Read the capsules of a type and of one array."""
    cdef Stream stream = Stream.__new__(Stream, MAKER)
    cdef ArrowSchema *schema
    if not (isinstance(pair, tuple) and len(pair) == 2):
        raise TypeError(
            f"{with_article(pair)} came where the capsules (arrow_schema, arrow_array) are accepted"
        )
    # Held here: a subclass of tuple may make its items when it is asked, and nobody else would keep them.
    of_schema, of_array = pair
    schema = <ArrowSchema *> inside(of_schema, "arrow_schema")
    array = <ArrowArray *> inside(of_array, "arrow_array")
    stream.schema = schema_of(schema, 0)
    with cython.critical_section(of_array):
        stream.only = take_array(array, stream.schema)
    return stream


cdef Stream read_stream(object capsule):
    """Read the capsule of a stream, which is moved out of it."""
    cdef Stream stream = Stream.__new__(Stream, MAKER)
    source = <ArrowArrayStream *> inside(capsule, "arrow_array_stream")
    with cython.critical_section(capsule):
        if source.release == NULL:
            raise ValueError("the Arrow stream is released: it was imported before, or never filled")
        if source.get_schema == NULL or source.get_next == NULL:
            raise ValueError("the Arrow stream lacks get_schema or get_next")
        stream.stream = source[0]
        source.release = NULL
    try:
        stream.schema = stream.ask_schema()
    except BaseException:
        stream.close()
        raise
    return stream


def read(source):
    """Read an object that offers the Arrow C data interface, or capsules of it.

    Parameters
    ----------
    source : object
        With ``__arrow_c_array__`` or ``__arrow_c_stream__``; of both the array is asked first, and the stream
        where that is refused (of several chunks). Or a capsule of a stream, or the capsules of a type and an
        array; a capsule is consumed.

    Returns
    -------
    Stream
        An iterator over the chunks, each an `Array`; ``schema`` is their type.

    Raises
    ------
    TypeError
        `source` is none of these.
    ValueError
        `source` was consumed before, or is malformed.
    OSError
        The producer reports an error.

    Examples
    --------
    >>> import pyarrow
    >>> from onehot_fast._arrow.reader import read
    >>> (chunk,) = read(pyarrow.array(["b", "a", None, "b"]).dictionary_encode())
    >>> chunk.codes()
    array([ 0,  1, -1,  0], dtype=int32)
    >>> pyarrow.array(chunk.dictionary).to_pylist()
    ['b', 'a']
    """
    if PyCapsule_CheckExact(source):
        return read_stream(source)
    has_stream = hasattr(source, "__arrow_c_stream__")
    if hasattr(source, "__arrow_c_array__"):
        try:
            pair = source.__arrow_c_array__()
        except (NotImplementedError, TypeError, ValueError):
            if not has_stream:
                raise
        else:
            return read_pair(pair)
    if has_stream:
        return read_stream(source.__arrow_c_stream__())
    if isinstance(source, tuple):
        return read_pair(source)
    raise TypeError(
        f"{with_article(source)} offers neither __arrow_c_array__ nor __arrow_c_stream__, "
        "and is not an Arrow capsule"
    )
