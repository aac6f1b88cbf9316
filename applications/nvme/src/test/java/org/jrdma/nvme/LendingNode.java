package org.jrdma.nvme;

import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.soft.BlockStorage;
import org.jrdma.nvme.soft.FailureRecordingDeviceModel;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.LentDevice;
import org.jrdma.soft.sisci.SoftSisci;

/** A node of a software fabric that lends a software controller. */
final class LendingNode implements AutoCloseable {

    static final int PAGES = 4096;

    private final BlockStorage storage = BlockStorage.inMemory(PAGES * 8L, 512);
    private final FailureRecordingDeviceModel model;
    private final Node node;
    private final LentDevice device;

    LendingNode(TemporarySisciFabric fabric) throws FabricException {
        var subsystem = new Subsystem("serial 7", "jrdma drive");
        var _ = subsystem.addNamespace(storage);
        model = new FailureRecordingDeviceModel(subsystem.newController());
        SoftSisci library = fabric.library();
        node = Sisci.from(library).open();
        device = library.lend(model);
    }

    long deviceId() {
        return device.fabricDeviceId();
    }

    LentDevice device() {
        return device;
    }

    @Override
    public void close() {
        device.close();
        node.close();
        storage.close();
        model.assertNoFailure();
    }
}
