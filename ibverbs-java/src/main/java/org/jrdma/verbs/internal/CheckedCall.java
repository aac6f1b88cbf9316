package org.jrdma.verbs.internal;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.CapturedErrno;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.verbs.model.VerbsException;

/**
 * Describes a call of a C function that may fail, for its exception. The methods make the call, and
 * each of them checks the result by one of the error conventions of libibverbs.
 *
 * @param function the name of the C function
 * @param subject the supplier of the object of the call, such as {@code for 4,096 bytes on rxe0};
 *     called only on failure
 * @param advice the fix for an errno; an empty string if no fix is known
 */
public record CheckedCall(String function, Supplier<String> subject, IntFunction<String> advice) {

    public static CheckedCall to(String function, Supplier<String> subject) {
        return new CheckedCall(function, subject, errno -> "");
    }

    /** Calls a function that returns NULL and sets errno on failure. */
    MemorySegment pointer(Downcalls.Call<MemorySegment> call) throws VerbsException {
        var result = Downcalls.call(call);
        if (result.address() == 0) {
            throw failed(CapturedErrno.value());
        }
        return result;
    }

    /**
     * Calls a function that returns the address of a structure, or NULL and sets errno on failure.
     */
    MemorySegment structure(MemoryLayout layout, Downcalls.Call<MemorySegment> call)
            throws VerbsException {
        return Downcalls.memoryAt(pointer(call), layout.byteSize());
    }

    /** Calls a function that returns -1 and sets errno on failure. */
    int minusOne(Downcalls.Call<Integer> call) throws VerbsException {
        int result = Downcalls.call(call);
        if (result < 0) {
            throw failed(CapturedErrno.value());
        }
        return result;
    }

    /**
     * Calls a function that returns 0 on success and an errno on failure. Some providers return -1
     * and set errno instead, which this method also handles.
     */
    void errno(Downcalls.Call<Integer> call) throws VerbsException {
        int result = Downcalls.call(call);
        if (result != 0) {
            throw failed(result < 0 ? CapturedErrno.value() : result);
        }
    }

    /** Calls a function that returns a negative errno on failure. */
    int negativeErrno(Downcalls.Call<Long> call) throws VerbsException {
        long result = Downcalls.call(call);
        if (result < 0) {
            throw failed((int) -result);
        }
        return (int) result;
    }

    /**
     * Returns the address of a function that older versions of the library lack.
     *
     * @param release the first release of rdma-core that has the function
     * @throws VerbsException with EOPNOTSUPP if the library lacks the function
     */
    MemorySegment require(Optional<MemorySegment> found, int release) throws VerbsException {
        return found.orElseThrow(() ->
                new VerbsException(
                        function,
                        subject.get(),
                        Errno.EOPNOTSUPP,
                        "The library lacks the function, which requires rdma-core %d or later."
                                .formatted(release)));
    }

    /**
     * Returns the address of a function that a library may lack.
     *
     * @throws VerbsException with EOPNOTSUPP if the library lacks the function
     */
    MemorySegment require(Optional<MemorySegment> found) throws VerbsException {
        return found.orElseThrow(() -> failed(Errno.EOPNOTSUPP));
    }

    /**
     * Returns a function pointer that a provider may leave NULL.
     *
     * @throws VerbsException with EOPNOTSUPP if the pointer is NULL
     */
    MemorySegment require(MemorySegment function) throws VerbsException {
        return require(Optional.of(function).filter(found -> found.address() != 0));
    }

    public VerbsException failed(int errno) {
        return new VerbsException(function, subject.get(), errno, advice.apply(errno));
    }
}
