package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jrdma.abi.rdma.ibv_xrcd;
import org.jrdma.abi.rdma.ibv_xrcd_init_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.verbs.model.VerbsException;

/**
 * Calls the C functions of XRC domains. The context of a device that does not support XRC lacks
 * these functions.
 */
public final class XrcFunctions {

    private static final MethodHandle OPEN_XRCD =
            capturingErrno(verbs_context.open_xrcd.descriptor());
    private static final MethodHandle CLOSE_XRCD =
            capturingErrno(verbs_context.close_xrcd.descriptor());

    private XrcFunctions() {}

    /**
     * Opens an XRC domain. The C function returns NULL and sets errno on failure.
     *
     * @param descriptor the descriptor of the file that identifies the domain; -1 if no file does
     * @param flags the flags of open(2) that control the creation of the domain
     */
    public static MemorySegment open(
            VerbsContext context, int descriptor, int flags, CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.open_xrcd$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_xrcd_init_attr.allocate(arena);
            ibv_xrcd_init_attr.comp_mask(
                    attributes,
                    rdma_h.IBV_XRCD_INIT_ATTR_FD() | rdma_h.IBV_XRCD_INIT_ATTR_OFLAGS());
            ibv_xrcd_init_attr.fd(attributes, descriptor);
            ibv_xrcd_init_attr.oflags(attributes, flags);
            return attempt.structure(
                    ibv_xrcd.layout(),
                    () ->
                            (MemorySegment)
                                    OPEN_XRCD.invokeExact(
                                            function, segment(), context.address(), attributes));
        }
    }

    /** Closes an XRC domain. The C function returns 0 or an errno. */
    public static void close(VerbsContext context, MemorySegment domain, CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.close_xrcd$offset(), attempt);
        attempt.errno(() -> (int) CLOSE_XRCD.invokeExact(function, segment(), domain));
    }
}
