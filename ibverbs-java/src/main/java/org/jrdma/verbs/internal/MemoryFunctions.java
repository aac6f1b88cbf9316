package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.call;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;
import static org.jrdma.ffi.linkage.Downcalls.memoryAt;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import org.jrdma.abi.rdma.ibv_mr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.VerbsException;

/** Protection domains and memory regions. */
public final class MemoryFunctions {

    private static final MethodHandle ALLOC_PD = capturingErrno(rdma_h.ibv_alloc_pd$descriptor());
    private static final MethodHandle DEALLOC_PD =
            capturingErrno(rdma_h.ibv_dealloc_pd$descriptor());
    private static final MethodHandle REG_MR = capturingErrno(rdma_h.ibv_reg_mr$descriptor());
    private static final MethodHandle REG_MR_IOVA2 =
            capturingErrno(rdma_h.ibv_reg_mr_iova2$descriptor());
    private static final MethodHandle DEREG_MR = capturingErrno(rdma_h.ibv_dereg_mr$descriptor());

    private final MemorySegment allocPd;
    private final MemorySegment deallocPd;
    private final MemorySegment regMr;
    private final Optional<MemorySegment> regMrIova2;
    private final MemorySegment deregMr;

    /** Finds the functions. */
    public MemoryFunctions(NativeLibrary library) throws LibraryNotFoundException {
        allocPd = library.require("ibv_alloc_pd");
        deallocPd = library.require("ibv_dealloc_pd");
        regMr = library.require("ibv_reg_mr");
        regMrIova2 = library.find("ibv_reg_mr_iova2");
        deregMr = library.require("ibv_dereg_mr");
    }

    /** NULL and errno on failure. */
    public MemorySegment allocateDomain(MemorySegment context, Attempt attempt)
            throws VerbsException {
        return attempt.pointer(
                call(() -> (MemorySegment) ALLOC_PD.invokeExact(allocPd, segment(), context)));
    }

    /** Returns the errno. */
    public void deallocateDomain(MemorySegment domain, Attempt attempt) throws VerbsException {
        attempt.errno(call(() -> (int) DEALLOC_PD.invokeExact(deallocPd, segment(), domain)));
    }

    /**
     * Registers memory. With optional access flags the newer function is called, as C's macro does;
     * a library without it is not given them, which is what makes them optional. NULL and errno on
     * failure.
     */
    public MemorySegment register(
            MemorySegment domain, MemorySegment memory, int access, Attempt attempt)
            throws VerbsException {
        var optional = access & rdma_h.IBV_ACCESS_OPTIONAL_RANGE();
        MemorySegment region;
        if (optional != 0 && regMrIova2.isPresent()) {
            region =
                    call(() ->
                            (MemorySegment)
                                    REG_MR_IOVA2.invokeExact(
                                            regMrIova2.get(),
                                            segment(),
                                            domain,
                                            memory,
                                            memory.byteSize(),
                                            memory.address(),
                                            access));
        } else {
            region =
                    call(() ->
                            (MemorySegment)
                                    REG_MR.invokeExact(
                                            regMr,
                                            segment(),
                                            domain,
                                            memory,
                                            memory.byteSize(),
                                            access & ~optional));
        }
        return memoryAt(attempt.pointer(region), ibv_mr.layout().byteSize());
    }

    /** Returns the errno. */
    public void deregister(MemorySegment region, Attempt attempt) throws VerbsException {
        attempt.errno(call(() -> (int) DEREG_MR.invokeExact(deregMr, segment(), region)));
    }

    /** The key by which work requests of this side name the region. */
    public static int localKey(MemorySegment region) {
        return ibv_mr.lkey(region);
    }

    /** The key by which a peer names the region. */
    public static int remoteKey(MemorySegment region) {
        return ibv_mr.rkey(region);
    }
}
