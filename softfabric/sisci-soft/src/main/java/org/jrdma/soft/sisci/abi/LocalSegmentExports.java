package org.jrdma.soft.sisci.abi;

import static org.jrdma.abi.sisci.sisci_h.*;

import org.jrdma.soft.sisci.fabric.AttachedLocalSegment;
import org.jrdma.soft.sisci.fabric.CreatedSegment;
import org.jrdma.soft.sisci.fabric.FlagChecks;
import org.jrdma.soft.sisci.fabric.LocalSegment;
import org.jrdma.soft.sisci.fabric.LocalSegment.Operation;
import org.jrdma.soft.sisci.fabric.SciException;

/** The functions for local segments. */
final class LocalSegmentExports extends AbstractExports {

    LocalSegmentExports(SoftSisciLibrary library) {
        super(library);
    }

    private LocalSegment segment(long handle) {
        return handles.object(handle, LocalSegment.class);
    }

    @Exported("SCICreateSegment")
    void create(
            long descriptor,
            long segment,
            int id,
            long bytes,
            long callback,
            long argument,
            int flags) {
        var segments = library.process().segments();
        var owner = descriptor(descriptor);
        var _ =
                handles.create(
                        segment,
                        handle ->
                                segments.create(
                                        owner,
                                        id,
                                        bytes,
                                        ProgramCallbacks.ofLocalSegment(
                                                callback, argument, handle, flags),
                                        flags));
    }

    @Exported("SCIAttachLocalSegment")
    void attach(
            long descriptor,
            long segment,
            int id,
            long bytes,
            long callback,
            long argument,
            int flags) {
        var owner = descriptor(descriptor);
        var attached =
                handles.create(
                        segment,
                        handle ->
                                AttachedLocalSegment.attach(
                                        owner,
                                        id,
                                        ProgramCallbacks.ofLocalSegment(
                                                callback, argument, handle, flags),
                                        flags));
        if (bytes != 0) {
            ProgramMemory.setLong(bytes, attached.bytes());
        }
    }

    @Exported("SCIRemoveSegment")
    void remove(long segment, int flags) {
        segment(segment).remove(flags);
        handles.release(segment);
    }

    @Exported("SCIPrepareSegment")
    void prepare(long segment, int adapter, int flags) {
        segment(segment).apply(Operation.PREPARE, adapter, flags);
    }

    @Exported("SCISetSegmentAvailable")
    void makeAvailable(long segment, int adapter, int flags) {
        segment(segment).apply(Operation.MAKE_AVAILABLE, adapter, flags);
    }

    @Exported("SCISetSegmentUnavailable")
    void makeUnavailable(long segment, int adapter, int flags) {
        segment(segment).apply(Operation.MAKE_UNAVAILABLE, adapter, flags);
    }

    @Exported("SCIShareSegment")
    void share(long segment, int flags) {
        segment(segment).apply(Operation.SHARE, 0, flags);
    }

    @Exported(value = "SCIGetLocalSegmentSize", reports = false)
    long bytes(long segment) {
        return segment(segment).bytes();
    }

    @Exported(value = "SCIGetLocalSegmentId", reports = false)
    int id(long segment) {
        return segment(segment).id();
    }

    @Exported("SCIWaitForLocalSegmentEvent")
    int await(long segment, long node, long adapter, int timeout, int flags) {
        FlagChecks.checkNone(flags);
        var event = segment(segment).events().await(timeout);
        ProgramMemory.setIfNotNull(node, event.node());
        ProgramMemory.setIfNotNull(adapter, event.adapter());
        return event.reason();
    }

    @Exported("SCIRegisterSegmentMemory")
    void register(long address, long bytes, long segment, int flags) {
        if (segment(segment) instanceof CreatedSegment created) {
            created.register(address, bytes, flags);
        } else {
            throw new SciException(SCI_ERR_ILLEGAL_OPERATION());
        }
    }
}
