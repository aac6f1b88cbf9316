package org.jrdma.verbs.internal;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.CapturedErrno;
import org.jrdma.verbs.model.VerbsException;

/**
 * A function about to be called, with what is said of it if it fails. The methods are the error
 * conventions of libibverbs.
 *
 * @param function its name in C
 * @param subject what it is asked for, as {@code for 4,096 bytes on rxe0}; asked only on failure
 * @param advice what to do about an errno; empty where nothing is known
 */
public record Attempt(String function, Supplier<String> subject, IntFunction<String> advice) {

    /** An attempt that there is no advice about. */
    public static Attempt to(String function, Supplier<String> subject) {
        return new Attempt(function, subject, errno -> "");
    }

    /** NULL and errno on failure. */
    MemorySegment pointer(MemorySegment result) throws VerbsException {
        if (result.address() == 0) {
            throw failed(CapturedErrno.value());
        }
        return result;
    }

    /** -1 and errno on failure. */
    int minusOne(int result) throws VerbsException {
        if (result < 0) {
            throw failed(CapturedErrno.value());
        }
        return result;
    }

    /**
     * The errno itself as the result, 0 on success; some providers answer -1 and leave it in errno.
     */
    void errno(int result) throws VerbsException {
        if (result != 0) {
            throw failed(result < 0 ? CapturedErrno.value() : result);
        }
    }

    /** A negative errno on failure. */
    int negativeErrno(long result) throws VerbsException {
        if (result < 0) {
            throw failed((int) -result);
        }
        return (int) result;
    }

    /**
     * A function that came with a later version of the library.
     *
     * @param release of rdma-core, the first that has it
     * @throws VerbsException with EOPNOTSUPP if the library is older
     */
    MemorySegment there(Optional<MemorySegment> found, int release) throws VerbsException {
        return found.orElseThrow(() ->
                new VerbsException(
                        function,
                        subject.get(),
                        Errno.EOPNOTSUPP,
                        "The library lacks the function, which came with rdma-core %d."
                                .formatted(release)));
    }

    /** The exception for this attempt. */
    public VerbsException failed(int errno) {
        return new VerbsException(function, subject.get(), errno, advice.apply(errno));
    }
}
