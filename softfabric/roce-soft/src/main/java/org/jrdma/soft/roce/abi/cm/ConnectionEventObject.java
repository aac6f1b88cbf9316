package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jrdma.abi.rdma.rdma_cm_event;
import org.jrdma.abi.rdma.rdma_conn_param;
import org.jrdma.soft.roce.abi.StructureRegistry;

/**
 * The implementation of an {@code rdma_cm_event} that the program has received and not acknowledged
 * yet.
 */
final class ConnectionEventObject {

    /** The layout of the structure: an {@code rdma_cm_event} followed by its private data. */
    private static final GroupLayout LAYOUT =
            MemoryLayout.structLayout(
                    rdma_cm_event.layout(),
                    MemoryLayout.sequenceLayout(256, ValueLayout.JAVA_BYTE));

    private final PendingEvent event;
    private final MemorySegment structure;

    /**
     * Creates the structure for an event. Each {@code rdma_cm_id} that the event refers to must
     * already have its native structure.
     */
    ConnectionEventObject(PendingEvent event) {
        this.event = event;
        this.structure = StructureRegistry.allocate(LAYOUT, this);
        rdma_cm_event.id(structure, event.identifier().structure());
        if (event.listener() != null) {
            rdma_cm_event.listen_id(structure, event.listener().structure());
        }
        rdma_cm_event.event(structure, event.type());
        rdma_cm_event.status(structure, event.status());
        var parameters = rdma_cm_event.param(structure);
        event.parameters().accept(parameters);
        var bytes = event.privateData().byteSize();
        if (bytes > 0) {
            var data = structure.asSlice(rdma_cm_event.layout().byteSize(), bytes);
            data.copyFrom(event.privateData());
            var connection =
                    rdma_cm_event.param.conn(
                            parameters); // rdma_ud_param has its private data at the same offset
            rdma_conn_param.private_data(connection, data);
            rdma_conn_param.private_data_len(connection, (byte) bytes);
        }
        event.owner().events().unacknowledged().taken();
    }

    static ConnectionEventObject of(long address) {
        return StructureRegistry.object(address, ConnectionEventObject.class);
    }

    MemorySegment structure() {
        return structure;
    }

    void acknowledge() {
        event.owner().events().unacknowledged().acknowledged(1);
        StructureRegistry.release(structure); // Last, because this may run out of memory.
    }
}
