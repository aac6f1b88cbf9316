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

/** Calls the C functions of memory regions and memory windows. */
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
     * Registers memory. Peers and work requests address its first byte as {@code start}. Optional
     * access flags or a {@code start} that is not the default require {@code ibv_reg_mr_iova2}. If
     * the library lacks that function, optional flags are dropped, which libibverbs permits for
     * flags in its optional range, and another {@code start} is rejected. The C function returns
     * NULL and sets errno on failure.
     */
    public MemorySegment register(
            MemorySegment domain, MemorySegment memory, long start, int access, CheckedCall attempt)
            throws VerbsException {
        return register(domain, memory, memory.byteSize(), start, access, attempt);
    }

    /**
     * Registers the whole address space of the process, which C represents by the maximum length.
     */
    public MemorySegment registerAddressSpace(MemorySegment domain, int access, CheckedCall attempt)
            throws VerbsException {
        return register(domain, MemorySegment.NULL, -1, 0, access, attempt);
    }

    private MemorySegment register(
            MemorySegment domain,
            MemorySegment memory,
            long length,
            long start,
            int access,
            CheckedCall attempt)
            throws VerbsException {
        var optional = access & rdma_h.IBV_ACCESS_OPTIONAL_RANGE();
        var startsElsewhere = start != start(memory, access);
        if ((optional != 0 || startsElsewhere) && regMrIova2.isPresent()) {
            return attempt.structure(
                    ibv_mr.layout(),
                    () ->
                            (MemorySegment)
                                    REG_MR_IOVA2.invokeExact(
                                            regMrIova2.get(),
                                            segment(),
                                            domain,
                                            unchecked(memory),
                                            length,
                                            start,
                                            access));
        }
        if (startsElsewhere) {
            throw new VerbsException(
                    "ibv_reg_mr_iova2", "This version of libibverbs lacks ibv_reg_mr_iova2");
        }
        return attempt.structure(
                ibv_mr.layout(),
                () ->
                        (MemorySegment)
                                REG_MR.invokeExact(
                                        regMr,
                                        segment(),
                                        domain,
                                        unchecked(memory),
                                        length,
                                        access & ~optional));
    }

    /**
     * Returns a segment with the same address that any thread can access: the downcall runs on a
     * platform thread and would reject a segment that is confined to another thread.
     */
    private static MemorySegment unchecked(MemorySegment memory) {
        return MemorySegment.ofAddress(memory.address());
    }

    /**
     * Returns the largest part of the address space that a segment can represent: the addresses
     * from 0 to {@link Long#MAX_VALUE}.
     */
    public static MemorySegment addressSpace() {
        return memoryAt(MemorySegment.NULL, Long.MAX_VALUE);
    }

    /** Registers a part of a dma-buf. The C function returns NULL and sets errno on failure. */
    public MemorySegment registerDmaBuf(
            MemorySegment domain,
            int descriptor,
            long offset,
            long length,
            long start,
            int access,
            CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(regDmabufMr);
        return attempt.structure(
                ibv_mr.layout(),
                () ->
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
    }

    /**
     * Imports a region of another process. The C function returns NULL and sets errno on failure.
     */
    public MemorySegment importRegion(MemorySegment domain, int handle, CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(importMr);
        return attempt.structure(
                ibv_mr.layout(),
                () -> (MemorySegment) IMPORT_MR.invokeExact(function, segment(), domain, handle));
    }

    /**
     * Releases an imported region. The C function cannot fail. The library has this function if it
     * has {@code ibv_import_mr}.
     */
    public void unimportRegion(MemorySegment region) {
        run(() -> {
            UNIMPORT_MR.invokeExact(unimportMr.orElseThrow(), segment(), region);
        });
    }

    /**
     * Returns the address by which work requests and peers access the first byte of a region if the
     * program specifies none: 0 with {@code IBV_ACCESS_ZERO_BASED}, otherwise the virtual address.
     */
    public static long start(MemorySegment memory, int access) {
        return (access & rdma_h.IBV_ACCESS_ZERO_BASED()) != 0 ? 0 : memory.address();
    }

    /** Allocates a null memory region. The C function returns NULL and sets errno on failure. */
    public MemorySegment allocateNull(
            VerbsContext context, MemorySegment domain, CheckedCall attempt) throws VerbsException {
        var function = context.require(verbs_context.alloc_null_mr$offset(), attempt);
        return attempt.structure(
                ibv_mr.layout(),
                () -> (MemorySegment) ALLOC_NULL_MR.invokeExact(function, segment(), domain));
    }

    /**
     * Registers a range of device memory. The C function returns NULL and sets errno on failure.
     */
    public MemorySegment registerDeviceMemory(
            VerbsContext context,
            MemorySegment domain,
            MemorySegment memory,
            long offset,
            long length,
            int access,
            CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.reg_dm_mr$offset(), attempt);
        return attempt.structure(
                ibv_mr.layout(),
                () ->
                        (MemorySegment)
                                REG_DM_MR.invokeExact(
                                        function, segment(), domain, memory, offset, length,
                                        access));
    }

    /**
     * Changes the access rights of a region.
     *
     * @param lost the action to run if the change fails and leaves the region unusable
     */
    public void changeAccess(MemorySegment region, int access, CheckedCall attempt, Runnable lost)
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

    /** Moves a region to another protection domain. See {@link #changeAccess} for {@code lost}. */
    public void changeDomain(
            MemorySegment region, MemorySegment domain, CheckedCall attempt, Runnable lost)
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

    /** Replaces the memory of a region. See {@link #changeAccess} for {@code lost}. */
    public void changeMemory(
            MemorySegment region, MemorySegment memory, CheckedCall attempt, Runnable lost)
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
            CheckedCall attempt,
            Runnable lost)
            throws VerbsException {
        var function = attempt.require(reregMr);
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
        // IBV_REREG_MR_ERR_DO_FORK_OLD means that the region was changed, although the fork
        // behavior of its old memory could not be restored.
        if (result == 0 || result == rdma_h.IBV_REREG_MR_ERR_DO_FORK_OLD()) {
            return;
        }
        var errno = CapturedErrno.value();
        // After these two results and EOPNOTSUPP, the region is unchanged.
        if (result != rdma_h.IBV_REREG_MR_ERR_INPUT()
                && result != rdma_h.IBV_REREG_MR_ERR_DONT_FORK_NEW()
                && errno != Errno.EOPNOTSUPP) {
            lost.run();
        }
        throw attempt.failed(errno);
    }

    /** Deregisters a region. The C function returns 0 or an errno. */
    public void deregister(MemorySegment region, CheckedCall attempt) throws VerbsException {
        attempt.errno(() -> (int) DEREG_MR.invokeExact(deregMr, segment(), region));
    }

    /** A piece of registered memory: an {@code ibv_sge}. */
    public record Piece(long address, int length, int key) {}

    /**
     * Advises the kernel about the pages of memory for on-demand paging. The C function returns 0
     * or an errno.
     *
     * @param waits true to wait until the kernel has followed the advice
     */
    public void advise(
            VerbsContext context,
            MemorySegment domain,
            PageAdvice advice,
            boolean waits,
            List<Piece> pieces,
            CheckedCall attempt)
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
            attempt.errno(() ->
                    (int)
                            ADVISE_MR.invokeExact(
                                    function, segment(), domain, code, flags, list, pieces.size()));
        }
    }

    /** Allocates a memory window. The C function returns NULL and sets errno on failure. */
    public MemorySegment allocateWindow(
            VerbsContext context, MemorySegment domain, boolean type2, CheckedCall attempt)
            throws VerbsException {
        var function = context.operation(ibv_context_ops.alloc_mw$offset(), attempt);
        var type = type2 ? rdma_h.IBV_MW_TYPE_2() : rdma_h.IBV_MW_TYPE_1();
        return attempt.structure(
                ibv_mw.layout(),
                () -> (MemorySegment) ALLOC_MW.invokeExact(function, segment(), domain, type));
    }

    /** Deallocates a memory window. The C function returns 0 or an errno. */
    public void deallocateWindow(VerbsContext context, MemorySegment window, CheckedCall attempt)
            throws VerbsException {
        var function = context.operation(ibv_context_ops.dealloc_mw$offset(), attempt);
        attempt.errno(() -> (int) DEALLOC_MW.invokeExact(function, segment(), window));
    }

    /**
     * Returns the key by which peers access a window. The key is read from the provider's {@code
     * ibv_mw}.
     */
    public static int windowKey(MemorySegment window) {
        return ibv_mw.rkey(window);
    }

    /** Sets the key of a window in the provider's {@code ibv_mw}. */
    public static void windowKey(MemorySegment window, int key) {
        ibv_mw.rkey(window, key);
    }

    public static int regionHandle(MemorySegment region) {
        return ibv_mr.handle(region);
    }

    /**
     * Returns the length of a region in bytes. The length is read from the provider's {@code
     * ibv_mr}.
     */
    public static long regionLength(MemorySegment region) {
        return ibv_mr.length(region);
    }

    /** Returns the key by which local work requests access a region. */
    public static int localKey(MemorySegment region) {
        return ibv_mr.lkey(region);
    }

    /** Returns the key by which peers access a region. */
    public static int remoteKey(MemorySegment region) {
        return ibv_mr.rkey(region);
    }
}
