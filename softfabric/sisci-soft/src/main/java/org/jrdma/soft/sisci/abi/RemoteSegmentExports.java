package org.jrdma.soft.sisci.abi;

import static org.jrdma.abi.sisci.sisci_h.*;

import org.jrdma.soft.sisci.fabric.FlagChecks;
import org.jrdma.soft.sisci.fabric.RemoteSegment;

/** The functions for remote segments. */
final class RemoteSegmentExports extends AbstractExports {

    RemoteSegmentExports(SoftSisciLibrary library) {
        super(library);
    }

    private RemoteSegment segment(long handle) {
        return handles.object(handle, RemoteSegment.class);
    }

    /**
     * Implements {@code SCIConnectSegment}. Fails at once if the segment is not available: the
     * timeout is ignored.
     */
    @Exported("SCIConnectSegment")
    void connect(
            long descriptor,
            long segment,
            int node,
            int id,
            int adapter,
            long callback,
            long argument,
            @SuppressWarnings("unused") int timeout,
            int flags) {
        var owner = descriptor(descriptor);
        var _ =
                handles.create(
                        segment,
                        handle ->
                                RemoteSegment.connect(
                                        owner,
                                        node,
                                        id,
                                        adapter,
                                        ProgramCallbacks.ofRemoteSegment(
                                                callback, argument, handle, flags),
                                        flags));
    }

    /**
     * Implements {@code SCIConnectSCISpace}: connects to the segment at a physical address of a
     * node. C passes the address, a structure of 8 bytes, as a 64-bit integer. From the lowest bit,
     * the integer contains the id of the node in 16 bits, the upper 16 bits of the physical
     * address, and its lower 32 bits.
     */
    @Exported("SCIConnectSCISpace")
    void connectSpace(
            long descriptor, int adapter, long segment, long address, long bytes, int flags) {
        var owner = descriptor(descriptor);
        var node = (int) (address & 0xFFFF);
        var physicalAddress = (address >>> 16 & 0xFFFF) << Integer.SIZE | address >>> Integer.SIZE;
        var _ =
                handles.create(
                        segment,
                        _ ->
                                RemoteSegment.connectSpace(
                                        owner, node, adapter, physicalAddress, bytes, flags));
    }

    @Exported("SCIDisconnectSegment")
    void disconnect(long segment, int flags) {
        FlagChecks.checkNone(flags);
        segment(segment).disconnect();
        handles.release(segment);
    }

    @Exported(value = "SCIGetRemoteSegmentSize", reports = false)
    long bytes(long segment) {
        return segment(segment).bytes();
    }

    @Exported(value = "SCIGetRemoteSegmentId", reports = false)
    int id(long segment) {
        return segment(segment).id();
    }

    @Exported(value = "SCIGetRemoteSegmentNodeId", reports = false)
    int node(long segment) {
        return segment(segment).node();
    }

    @Exported("SCIWaitForRemoteSegmentEvent")
    int await(long segment, long status, int timeout, int flags) {
        FlagChecks.checkNone(flags);
        var event = segment(segment).events().await(timeout);
        ProgramMemory.setIfNotNull(status, SCI_ERR_OK());
        return event.reason();
    }
}
