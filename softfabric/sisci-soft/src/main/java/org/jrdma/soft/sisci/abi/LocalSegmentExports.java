package org.jrdma.soft.sisci.abi;

import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.soft.sisci.fabric.Descriptor;
import org.jrdma.soft.sisci.fabric.LocalSegment;
import org.jrdma.soft.sisci.fabric.LocalSegment.Step;
import org.jrdma.soft.sisci.fabric.OwnSegment;
import org.jrdma.soft.sisci.fabric.Refusal;
import org.jrdma.soft.sisci.fabric.SharedSegment;

/** Segments of this node. */
final class LocalSegmentExports {

    private final Library library;
    private final Handles handles;

    LocalSegmentExports(Library library) {
        this.library = library;
        this.handles = library.handles();
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
        library.member();
        var owner = handles.object(descriptor, Descriptor.class);
        var _ =
                handles.make(
                        segment,
                        handle ->
                                OwnSegment.create(
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
        library.member();
        var owner = handles.object(descriptor, Descriptor.class);
        var attached =
                handles.make(
                        segment,
                        handle ->
                                SharedSegment.attach(
                                        owner,
                                        id,
                                        ProgramCallbacks.ofLocalSegment(
                                                callback, argument, handle, flags),
                                        flags));
        if (bytes != 0) {
            Memory.setLong(bytes, attached.bytes());
        }
    }

    @Exported("SCIRemoveSegment")
    void remove(long segment, int flags) {
        segment(segment).remove(flags);
        handles.release(segment);
    }

    @Exported("SCIPrepareSegment")
    void prepare(long segment, int adapter, int flags) {
        segment(segment).step(Step.PREPARE, adapter, flags);
    }

    @Exported("SCISetSegmentAvailable")
    void makeAvailable(long segment, int adapter, int flags) {
        segment(segment).step(Step.MAKE_AVAILABLE, adapter, flags);
    }

    @Exported("SCISetSegmentUnavailable")
    void makeUnavailable(long segment, int adapter, int flags) {
        segment(segment).step(Step.MAKE_UNAVAILABLE, adapter, flags);
    }

    @Exported("SCIShareSegment")
    void share(long segment, int flags) {
        segment(segment).step(Step.SHARE, 0, flags);
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
        LibraryExports.noFlags(flags);
        var event = segment(segment).events().await(timeout, true);
        Memory.setIfWanted(node, event.node());
        Memory.setIfWanted(adapter, event.adapter());
        return event.reason();
    }

    @Exported("SCIRegisterSegmentMemory")
    void register(long address, long bytes, long segment, int flags) {
        if (segment(segment) instanceof OwnSegment own) {
            own.register(address, bytes, flags);
        } else {
            throw new Refusal(sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        }
    }
}
