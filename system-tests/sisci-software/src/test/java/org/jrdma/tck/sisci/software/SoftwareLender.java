package org.jrdma.tck.sisci.software;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.LentDevice;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.soft.sisci.device.EduDevice;
import org.jrdma.tck.sisci.FabricUnderTest;
import org.jspecify.annotations.Nullable;

/** A node of the software fabric that lends devices. */
final class SoftwareLender implements FabricUnderTest.Lender {

    private final SoftSisci library;
    private final Map<Long, LentDevice> devices = new ConcurrentHashMap<>();

    /** The node, which is opened when the first device is lent. */
    private @Nullable Node node;

    SoftwareLender(SoftSisciOptions options) {
        library = new SoftSisci(options);
    }

    @Override
    public synchronized long lend() throws FabricException {
        if (node == null) {
            node = Sisci.from(library).open();
        }
        var device = library.lend(new EduDevice());
        devices.put(device.fabricDeviceId(), device);
        return device.fabricDeviceId();
    }

    @Override
    public void withdraw(long device) {
        var lent = devices.remove(device);
        if (lent != null) {
            lent.close();
        }
    }
}
