package org.jrdma.soft.roce.abi.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.SecureRandom;
import java.util.List;
import java.util.stream.IntStream;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.soft.roce.network.Port;
import org.jrdma.soft.roce.network.PortOptions;
import org.junit.jupiter.api.Test;

/** Tests which of its candidate addresses a device uses. */
class DeviceAddressSelectionTest {

    /** Candidate addresses that other builds on this machine are unlikely to use. */
    private final List<RoceGid> addresses =
            IntStream.rangeClosed(1, 3)
                    .mapToObj(host ->
                            RoceGid.ipv4(
                                    127 << 24
                                            | 78 << 16
                                            | (int) (ProcessHandle.current().pid() & 0xff) << 8
                                            | host))
                    .toList();

    private final DeviceObject device =
            new DeviceObject("soft", addresses, NetworkFaults.NONE, null, true, new SecureRandom());

    /** Opens and closes the device, and returns the address that it used. */
    private RoceGid openAndClose() {
        var context = DeviceExports.openDevice(device.structure().address());
        try {
            return ContextObject.of(context).port().address();
        } finally {
            DeviceExports.closeDevice(context);
        }
    }

    @Test
    void shouldReuseItsLastAddressEvenIfAnEarlierOneIsFreeAgain() throws Exception {
        var first = Port.open(PortOptions.at(addresses.get(0)));
        assertThat(openAndClose()).isEqualTo(addresses.get(1));
        first.close();

        assertThat(openAndClose()).isEqualTo(addresses.get(1));
    }

    @Test
    void shouldUseTheNextAddressIfItsLastOneIsTaken() throws Exception {
        assertThat(openAndClose()).isEqualTo(addresses.get(0));

        try (var taken = Port.open(PortOptions.at(addresses.get(0)))) {
            assertThat(taken.address()).isEqualTo(addresses.get(0));
            assertThat(openAndClose()).isEqualTo(addresses.get(1));
        }
    }
}
