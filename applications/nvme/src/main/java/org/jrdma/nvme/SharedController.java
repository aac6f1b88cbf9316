package org.jrdma.nvme;

import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;
import java.util.function.Function;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.pcie.ControllerAccess;
import org.jspecify.annotations.Nullable;

/**
 * A controller whose admin queue belongs to a {@link SharedControllerManager}, of which this is a
 * client.
 */
final class SharedController extends PcieController {

    private final SocketAddress address;
    private @Nullable ManagerConnection manager;

    SharedController(ControllerAccess access, SocketAddress address, NvmeOptions options) {
        super(access, options);
        this.address = address;
    }

    @Override
    void start() throws FabricException {
        readCapabilities();
        manager = ManagerConnection.open(address, deadline());
        checkRunning();
        readNamespaces(this);
    }

    private ManagerReply execute(ManagerRequest request) throws FabricException {
        if (manager == null) {
            throw new IllegalStateException("The controller was not started");
        }
        return manager.execute(request, deadline());
    }

    @Override
    public <T> T read(AdminPageKind page, int namespace, Function<MemorySegment, T> decoder)
            throws FabricException {
        var data = execute(new ManagerRequest.ReadPage(page, namespace)).data();
        // an array of long values has the alignment that the decoders need
        var aligned = MemorySegment.ofArray(new long[Configuration.PAGE_BYTES / Long.BYTES]);
        return decoder.apply(aligned.copyFrom(data));
    }

    @Override
    int createQueue(QueueMemory memory, Runnable free) throws FabricException {
        try {
            return execute(new ManagerRequest.CreateQueue(memory)).value();
        } catch (NvmeException e) {
            if (e.code() != 0) { // the manager or the controller refused
                free.run();
            }
            throw e;
        }
    }

    @Override
    void deleteQueue(int id) throws FabricException {
        var _ = execute(new ManagerRequest.DeleteQueue(id));
    }

    @Override
    void requireHostIdentifier() {
        // only the manager knows it; otherwise the controller refuses the commands
    }

    @Override
    void release() throws FabricException {
        if (manager != null) {
            try {
                var _ = execute(new ManagerRequest.DeleteAllQueues());
            } finally {
                manager.close();
            }
        }
    }
}
