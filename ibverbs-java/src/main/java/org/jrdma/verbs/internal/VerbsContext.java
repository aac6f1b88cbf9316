package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.Downcalls.memoryAt;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import org.jrdma.abi.rdma.ibv_context;
import org.jrdma.abi.rdma.ibv_context_ops;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.verbs.model.VerbsException;

/**
 * The native context of an open device: an {@code ibv_context} at the end of a {@code
 * verbs_context}. New versions of the library add members at the front of the {@code
 * verbs_context}. A member exists if the size of the structure includes the member and the member
 * is not NULL.
 */
public final class VerbsContext {

    /**
     * The value of {@code abi_compat} in an {@code ibv_context} that is part of a {@code
     * verbs_context}.
     */
    private static final long EXTENDED = -1;

    private final MemorySegment context;
    private final Optional<MemorySegment> extension;
    private final long bytesFromEnd;

    /** Wraps the structure that {@code ibv_open_device} returned. */
    public VerbsContext(MemorySegment context) {
        this.context = context;
        if (ibv_context.abi_compat(context).address() == EXTENDED) {
            var start = MemorySegment.ofAddress(context.address() - verbs_context.context$offset());
            var whole = memoryAt(start, verbs_context.layout().byteSize());
            this.extension = Optional.of(whole);
            this.bytesFromEnd = verbs_context.sz(whole);
        } else {
            this.extension = Optional.empty();
            this.bytesFromEnd = 0;
        }
    }

    /** Returns the {@code ibv_context}. */
    public MemorySegment address() {
        return context;
    }

    /**
     * Returns the function pointer at an offset of {@link verbs_context}; empty if the library or
     * the provider lacks the function.
     */
    public Optional<MemorySegment> find(long offset) {
        return extension
                .filter(whole -> bytesFromEnd >= whole.byteSize() - offset)
                .map(whole -> whole.get(ValueLayout.ADDRESS, offset))
                .filter(function -> function.address() != 0);
    }

    MemorySegment require(long offset, CheckedCall attempt) throws VerbsException {
        return attempt.require(find(offset));
    }

    /**
     * Returns the function pointer at an offset of {@link ibv_context_ops}.
     *
     * @throws VerbsException with EOPNOTSUPP if the provider lacks the function
     */
    MemorySegment operation(long offset, CheckedCall attempt) throws VerbsException {
        return attempt.require(ibv_context.ops(context).get(ValueLayout.ADDRESS, offset));
    }

    /** Returns the file descriptor through which the library sends commands to the kernel. */
    public int commandDescriptor() {
        return ibv_context.cmd_fd(context);
    }

    public int asyncDescriptor() {
        return ibv_context.async_fd(context);
    }

    public int completionVectors() {
        return ibv_context.num_comp_vectors(context);
    }
}
