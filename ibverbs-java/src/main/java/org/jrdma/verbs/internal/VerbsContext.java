package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.Downcalls.memoryAt;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import org.jrdma.abi.rdma.ibv_context;
import org.jrdma.abi.rdma.ibv_context_ops;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.model.VerbsException;

/**
 * An open device's structure: an {@code ibv_context} that ends a {@code verbs_context}, which grows
 * at its front with each version of the library. A member is there if the library says its
 * structure is long enough, and is not NULL.
 */
public final class VerbsContext {

    /** What {@code abi_compat} holds in a context that has a {@code verbs_context} around it. */
    private static final long EXTENDED = -1;

    private final MemorySegment context;
    private final Optional<MemorySegment> extension;
    private final long bytesFromEnd;

    /** The structure at the address that {@code ibv_open_device} gave. */
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

    /** The {@code ibv_context}. */
    public MemorySegment address() {
        return context;
    }

    /**
     * The function at an offset of {@link verbs_context}, where this library and this provider have
     * it.
     */
    public Optional<MemorySegment> find(long offset) {
        return extension
                .filter(whole -> bytesFromEnd >= whole.byteSize() - offset)
                .map(whole -> whole.get(ValueLayout.ADDRESS, offset))
                .filter(function -> function.address() != 0);
    }

    MemorySegment require(long offset, Attempt attempt) throws VerbsException {
        return find(offset).orElseThrow(() -> attempt.failed(Errno.EOPNOTSUPP));
    }

    /** The function at an offset of {@link ibv_context_ops}, where this provider has it. */
    MemorySegment operation(long offset, Attempt attempt) throws VerbsException {
        var function = ibv_context.ops(context).get(ValueLayout.ADDRESS, offset);
        if (function.address() == 0) {
            throw attempt.failed(Errno.EOPNOTSUPP);
        }
        return function;
    }

    /** The descriptor that commands go to. */
    public int commandDescriptor() {
        return ibv_context.cmd_fd(context);
    }

    /** The descriptor that asynchronous events come from. */
    public int asyncDescriptor() {
        return ibv_context.async_fd(context);
    }

    /** How many completion vectors there are. */
    public int completionVectors() {
        return ibv_context.num_comp_vectors(context);
    }
}
