package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.call;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;
import static org.jrdma.ffi.linkage.Downcalls.memoryAt;
import static org.jrdma.ffi.linkage.Downcalls.run;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Optional;
import org.jrdma.abi.rdma.ibv_context_ops;
import org.jrdma.abi.rdma.ibv_mr;
import org.jrdma.abi.rdma.ibv_mw;
import org.jrdma.abi.rdma.ibv_sge;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.CapturedErrno;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.model.PageAdvice;
import org.jrdma.verbs.model.VerbsException;

/** Memory regions and windows. */
public final class MemoryFunctions {

    private static final MethodHandle REG_MR = capturingErrno(rdma_h.ibv_reg_mr$descriptor());
    private static final MethodHandle REG_MR_IOVA2 =
            capturingErrno(rdma_h.ibv_reg_mr_iova2$descriptor());
    private static final MethodHandle REG_DMABUF_MR =
            capturingErrno(rdma_h.ibv_reg_dmabuf_mr$descriptor());
    private static final MethodHandle IMPORT_MR = capturingErrno(rdma_h.ibv_import_mr$descriptor());
    private static final MethodHandle UNIMPORT_MR =
            capturingErrno(rdma_h.ibv_unimport_mr$descriptor());
    private static final MethodHandle REREG_MR = capturingErrno(rdma_h.ibv_rereg_mr$descriptor());
    private static final MethodHandle ALLOC_NULL_MR =
            capturingErrno(verbs_context.alloc_null_mr.descriptor());
    private static final MethodHandle REG_DM_MR =
            capturingErrno(verbs_context.reg_dm_mr.descriptor());
    private static final MethodHandle ADVISE_MR =
            capturingErrno(verbs_context.advise_mr.descriptor());
    private static final MethodHandle ALLOC_MW =
            capturingErrno(ibv_context_ops.alloc_mw.descriptor());
    private static final MethodHandle DEALLOC_MW =
            capturingErrno(ibv_context_ops.dealloc_mw.descriptor());
    private static final MethodHandle DEREG_MR = capturingErrno(rdma_h.ibv_dereg_mr$descriptor());

    private final MemorySegment regMr;
    private final Optional<MemorySegment> regMrIova2;
    private final Optional<MemorySegment> regDmabufMr;
    private final Optional<MemorySegment> importMr;
    private final Optional<MemorySegment> unimportMr;
    private final Optional<MemorySegment> reregMr;
    private final MemorySegment deregMr;

    /** Finds the functions. */
    public MemoryFunctions(NativeLibrary library) throws LibraryNotFoundException {
        regMr = library.require("ibv_reg_mr");
        regMrIova2 = library.find("ibv_reg_mr_iova2");
        regDmabufMr = library.find("ibv_reg_dmabuf_mr");
        importMr = library.find("ibv_import_mr");
        unimportMr = library.find("ibv_unimport_mr");
        reregMr = library.find("ibv_rereg_mr");
        deregMr = library.require("ibv_dereg_mr");
    }

    /**
     * Registers memory whose first byte is named by {@code start}. With optional access flags, or
     * another start than C gives it, the newer function is called. A library without it is not
     * given optional flags, which is what makes them optional. NULL and errno on failure.
     */
    public MemorySegment register(
            MemorySegment domain, MemorySegment memory, long start, int access, Attempt attempt)
            throws VerbsException {
        return register(domain, memory, memory.byteSize(), start, access, attempt);
    }

    /** Registers the whole address space, which C says by a length that none has. */
    public MemorySegment registerEverything(MemorySegment domain, int access, Attempt attempt)
            throws VerbsException {
        return register(domain, MemorySegment.NULL, -1, 0, access, attempt);
    }

    private MemorySegment register(
            MemorySegment domain,
            MemorySegment memory,
            long length,
            long start,
            int access,
            Attempt attempt)
            throws VerbsException {
        var optional = access & rdma_h.IBV_ACCESS_OPTIONAL_RANGE();
        var startsElsewhere = start != start(memory, access);
        MemorySegment region;
        if ((optional != 0 || startsElsewhere) && regMrIova2.isPresent()) {
            region =
                    call(() ->
                            (MemorySegment)
                                    REG_MR_IOVA2.invokeExact(
                                            regMrIova2.get(),
                                            segment(),
                                            domain,
                                            unchecked(memory),
                                            length,
                                            start,
                                            access));
        } else if (startsElsewhere) {
            throw new VerbsException("ibv_reg_mr_iova2", "This libibverbs has no ibv_reg_mr_iova2");
        } else {
            region =
                    call(() ->
                            (MemorySegment)
                                    REG_MR.invokeExact(
                                            regMr,
                                            segment(),
                                            domain,
                                            unchecked(memory),
                                            length,
                                            access & ~optional));
        }
        return memoryAt(attempt.pointer(region), ibv_mr.layout().byteSize());
    }

    /** Its address: confined memory can be named on the thread that makes the call, too. */
    private static MemorySegment unchecked(MemorySegment memory) {
        return MemorySegment.ofAddress(memory.address());
    }

    /** As much of the address space as Java can name. */
    public static MemorySegment everything() {
        return memoryAt(MemorySegment.NULL, Long.MAX_VALUE);
    }

    /** Registers a part of a dma-buf. NULL and errno on failure. */
    public MemorySegment registerDmaBuf(
            MemorySegment domain,
            int descriptor,
            long offset,
            long length,
            long start,
            int access,
            Attempt attempt)
            throws VerbsException {
        var function = regDmabufMr.orElseThrow(() -> attempt.failed(Errno.EOPNOTSUPP));
        var region =
                call(() ->
                        (MemorySegment)
                                REG_DMABUF_MR.invokeExact(
                                        function,
                                        segment(),
                                        domain,
                                        offset,
                                        length,
                                        start,
                                        descriptor,
                                        access));
        return memoryAt(attempt.pointer(region), ibv_mr.layout().byteSize());
    }

    /** A region of another process's. NULL and errno on failure. */
    public MemorySegment importRegion(MemorySegment domain, int handle, Attempt attempt)
            throws VerbsException {
        var function = importMr.orElseThrow(() -> attempt.failed(Errno.EOPNOTSUPP));
        var region =
                call(() ->
                        (MemorySegment) IMPORT_MR.invokeExact(function, segment(), domain, handle));
        return memoryAt(attempt.pointer(region), ibv_mr.layout().byteSize());
    }

    /** It cannot fail, and is there where the import is. */
    public void unimportRegion(MemorySegment region) {
        run(() -> {
            UNIMPORT_MR.invokeExact(unimportMr.orElseThrow(), segment(), region);
        });
    }

    /** By which address C names the first byte of memory, if nothing else is wanted. */
    public static long start(MemorySegment memory, int access) {
        return (access & rdma_h.IBV_ACCESS_ZERO_BASED()) != 0 ? 0 : memory.address();
    }

    /** Registers no memory at all. NULL and errno on failure. */
    public MemorySegment allocateNull(VerbsContext context, MemorySegment domain, Attempt attempt)
            throws VerbsException {
        var function = context.require(verbs_context.alloc_null_mr$offset(), attempt);
        var region =
                call(() -> (MemorySegment) ALLOC_NULL_MR.invokeExact(function, segment(), domain));
        return memoryAt(attempt.pointer(region), ibv_mr.layout().byteSize());
    }

    /** NULL and errno on failure. */
    public MemorySegment registerDeviceMemory(
            VerbsContext context,
            MemorySegment domain,
            MemorySegment memory,
            long offset,
            long length,
            int access,
            Attempt attempt)
            throws VerbsException {
        var function = context.require(verbs_context.reg_dm_mr$offset(), attempt);
        var region =
                call(() ->
                        (MemorySegment)
                                REG_DM_MR.invokeExact(
                                        function, segment(), domain, memory, offset, length,
                                        access));
        return memoryAt(attempt.pointer(region), ibv_mr.layout().byteSize());
    }

    /**
     * Gives a region other rights.
     *
     * @param lost called if that failed in a way that leaves the region of no use
     */
    public void changeAccess(MemorySegment region, int access, Attempt attempt, Runnable lost)
            throws VerbsException {
        reregister(
                region,
                rdma_h.IBV_REREG_MR_CHANGE_ACCESS(),
                MemorySegment.NULL,
                MemorySegment.NULL,
                access,
                attempt,
                lost);
    }

    /** Moves a region to another domain; as {@link #changeAccess}. */
    public void changeDomain(
            MemorySegment region, MemorySegment domain, Attempt attempt, Runnable lost)
            throws VerbsException {
        reregister(
                region,
                rdma_h.IBV_REREG_MR_CHANGE_PD(),
                domain,
                MemorySegment.NULL,
                0,
                attempt,
                lost);
    }

    /** Moves a region to other memory; as {@link #changeAccess}. */
    public void changeMemory(
            MemorySegment region, MemorySegment memory, Attempt attempt, Runnable lost)
            throws VerbsException {
        reregister(
                region,
                rdma_h.IBV_REREG_MR_CHANGE_TRANSLATION(),
                MemorySegment.NULL,
                memory,
                0,
                attempt,
                lost);
    }

    private void reregister(
            MemorySegment region,
            int changes,
            MemorySegment domain,
            MemorySegment memory,
            int access,
            Attempt attempt,
            Runnable lost)
            throws VerbsException {
        var function = reregMr.orElseThrow(() -> attempt.failed(Errno.EOPNOTSUPP));
        var result =
                call(() ->
                        (int)
                                REREG_MR.invokeExact(
                                        function,
                                        segment(),
                                        region,
                                        changes,
                                        domain,
                                        unchecked(memory),
                                        memory.byteSize(),
                                        access));
        // Failing to restore how a fork sees the memory left behind does not undo the change.
        if (result == 0 || result == rdma_h.IBV_REREG_MR_ERR_DO_FORK_OLD()) {
            return;
        }
        var errno = CapturedErrno.value();
        if (result != rdma_h.IBV_REREG_MR_ERR_INPUT()
                && result != rdma_h.IBV_REREG_MR_ERR_DONT_FORK_NEW()
                && errno != Errno.EOPNOTSUPP) { // who cannot do it has not touched it
            lost.run();
        }
        throw attempt.failed(errno);
    }

    /** Returns the errno. */
    public void deregister(MemorySegment region, Attempt attempt) throws VerbsException {
        attempt.errno(call(() -> (int) DEREG_MR.invokeExact(deregMr, segment(), region)));
    }

    /** A piece of registered memory: an {@code ibv_sge}. */
    public record Piece(long address, int length, int key) {}

    /** Returns the errno. */
    public void advise(
            VerbsContext context,
            MemorySegment domain,
            PageAdvice advice,
            boolean waits,
            List<Piece> pieces,
            Attempt attempt)
            throws VerbsException {
        var function = context.require(verbs_context.advise_mr$offset(), attempt);
        var code =
                switch (advice) {
                    case PREFETCH -> rdma_h.IBV_ADVISE_MR_ADVICE_PREFETCH();
                    case PREFETCH_FOR_WRITING -> rdma_h.IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE();
                    case PREFETCH_WITHOUT_FAULT -> rdma_h.IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT();
                };
        var flags = waits ? rdma_h.IBV_ADVISE_MR_FLAG_FLUSH() : 0;
        try (var arena = Arena.ofConfined()) {
            var list = ibv_sge.allocateArray(pieces.size(), arena);
            for (var index = 0; index < pieces.size(); index++) {
                var element = ibv_sge.asSlice(list, index);
                ibv_sge.addr(element, pieces.get(index).address);
                ibv_sge.length(element, pieces.get(index).length);
                ibv_sge.lkey(element, pieces.get(index).key);
            }
            attempt.errno(
                    call(() ->
                            (int)
                                    ADVISE_MR.invokeExact(
                                            function,
                                            segment(),
                                            domain,
                                            code,
                                            flags,
                                            list,
                                            pieces.size())));
        }
    }

    /** NULL and errno on failure. */
    public MemorySegment allocateWindow(
            VerbsContext context, MemorySegment domain, boolean ofSecondType, Attempt attempt)
            throws VerbsException {
        var function = context.operation(ibv_context_ops.alloc_mw$offset(), attempt);
        var type = ofSecondType ? rdma_h.IBV_MW_TYPE_2() : rdma_h.IBV_MW_TYPE_1();
        var window =
                call(() -> (MemorySegment) ALLOC_MW.invokeExact(function, segment(), domain, type));
        return memoryAt(attempt.pointer(window), ibv_mw.layout().byteSize());
    }

    /** Returns the errno. */
    public void deallocateWindow(VerbsContext context, MemorySegment window, Attempt attempt)
            throws VerbsException {
        var function = context.operation(ibv_context_ops.dealloc_mw$offset(), attempt);
        attempt.errno(call(() -> (int) DEALLOC_MW.invokeExact(function, segment(), window)));
    }

    /** The key by which a peer names a window, as far as its provider has been told of it. */
    public static int windowKey(MemorySegment window) {
        return ibv_mw.rkey(window);
    }

    /** Tells its provider which key a window has. */
    public static void windowKey(MemorySegment window, int key) {
        ibv_mw.rkey(window, key);
    }

    /** The kernel's number for it. */
    public static int regionHandle(MemorySegment region) {
        return ibv_mr.handle(region);
    }

    /** Its length, as the provider knows it. */
    public static long regionLength(MemorySegment region) {
        return ibv_mr.length(region);
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
