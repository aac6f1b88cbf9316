package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;
import static org.jrdma.ffi.linkage.Downcalls.run;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import org.jrdma.abi.rdma.ibv_alloc_dm_attr;
import org.jrdma.abi.rdma.ibv_dm;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.model.VerbsException;

/** Calls the C functions of device memory, which is memory of the adapter. */
public final class DeviceMemoryFunctions {

    private static final MethodHandle IMPORT_DM = capturingErrno(rdma_h.ibv_import_dm$descriptor());
    private static final MethodHandle UNIMPORT_DM =
            capturingErrno(rdma_h.ibv_unimport_dm$descriptor());
    private static final MethodHandle DM_EXPORT_DMABUF_FD =
            capturingErrno(rdma_h.ibv_dm_export_dmabuf_fd$descriptor());
    private static final MethodHandle ALLOC_DM =
            capturingErrno(verbs_context.alloc_dm.descriptor());
    private static final MethodHandle FREE_DM = capturingErrno(verbs_context.free_dm.descriptor());
    private static final MethodHandle MEMCPY_TO_DM =
            capturingErrno(ibv_dm.memcpy_to_dm.descriptor());
    private static final MethodHandle MEMCPY_FROM_DM =
            capturingErrno(ibv_dm.memcpy_from_dm.descriptor());

    private final Optional<MemorySegment> importDm;
    private final Optional<MemorySegment> unimportDm;
    private final Optional<MemorySegment> dmExportDmabufFd;

    public DeviceMemoryFunctions(NativeLibrary library) {
        importDm = library.find("ibv_import_dm");
        unimportDm = library.find("ibv_unimport_dm");
        dmExportDmabufFd = library.find("ibv_dm_export_dmabuf_fd");
    }

    /**
     * Allocates an {@code ibv_dm}. The C function returns NULL and sets errno on failure.
     *
     * @param logAlignment the binary logarithm of the alignment
     */
    public MemorySegment allocateDeviceMemory(
            VerbsContext context, long length, int logAlignment, CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.alloc_dm$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_alloc_dm_attr.allocate(arena);
            ibv_alloc_dm_attr.length(attributes, length);
            ibv_alloc_dm_attr.log_align_req(attributes, logAlignment);
            return attempt.structure(
                    ibv_dm.layout(),
                    () ->
                            (MemorySegment)
                                    ALLOC_DM.invokeExact(
                                            function, segment(), context.address(), attributes));
        }
    }

    /** Frees an {@code ibv_dm}. The C function returns 0 or an errno. */
    public void freeDeviceMemory(VerbsContext context, MemorySegment memory, CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.free_dm$offset(), attempt);
        attempt.errno(() -> (int) FREE_DM.invokeExact(function, segment(), memory));
    }

    /**
     * Imports device memory that another process has allocated. The C function returns NULL and
     * sets errno on failure.
     */
    public MemorySegment importDeviceMemory(MemorySegment context, int handle, CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(importDm);
        return attempt.structure(
                ibv_dm.layout(),
                () -> (MemorySegment) IMPORT_DM.invokeExact(function, segment(), context, handle));
    }

    /**
     * Releases imported device memory. The C function cannot fail. The library has this function if
     * it has {@code ibv_import_dm}.
     */
    public void unimportDeviceMemory(MemorySegment memory) {
        run(() -> {
            UNIMPORT_DM.invokeExact(unimportDm.orElseThrow(), segment(), memory);
        });
    }

    /**
     * Exports device memory as a dma-buf and returns its file descriptor. The C function returns -1
     * and sets errno on failure.
     */
    public int exportDmaBuf(MemorySegment memory, CheckedCall attempt) throws VerbsException {
        var function = attempt.require(dmExportDmabufFd);
        return attempt.minusOne(
                () -> (int) DM_EXPORT_DMABUF_FD.invokeExact(function, segment(), memory));
    }

    public static int deviceMemoryHandle(MemorySegment memory) {
        return ibv_dm.handle(memory);
    }

    /** Copies bytes to device memory at an offset. The C function returns 0 or an errno. */
    public void copyToDevice(
            MemorySegment memory, long offset, MemorySegment source, CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(ibv_dm.memcpy_to_dm(memory));
        attempt.errno(() ->
                (int)
                        MEMCPY_TO_DM.invokeExact(
                                function, segment(), memory, offset, source, source.byteSize()));
    }

    /** Copies bytes from device memory at an offset. The C function returns 0 or an errno. */
    public void copyFromDevice(
            MemorySegment memory, long offset, MemorySegment target, CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(ibv_dm.memcpy_from_dm(memory));
        attempt.errno(() ->
                (int)
                        MEMCPY_FROM_DM.invokeExact(
                                function, segment(), target, memory, offset, target.byteSize()));
    }
}
