package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.SoftRoce;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GidEntry;
import org.jrdma.verbs.model.GidRanking;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the selection of a device on a machine with the devices soft0 and soft1. */
@Timeout(60)
class DeviceSelectionTest {

    private static final String FIRST = "127.0.84.1";
    private static final String SECOND = "127.0.84.2";

    private final SoftRoce fabric =
            SoftRoce.at(InetAddress.ofLiteral(FIRST), InetAddress.ofLiteral(SECOND));
    private Verbs verbs;
    private DeviceSelection selection;

    @BeforeEach
    void createSelection() throws Exception {
        verbs = Verbs.from(fabric);
        selection = new DeviceSelection(verbs, ConnectionManager.from(fabric));
    }

    private void shouldSelect(String device, String address, String name, String range)
            throws IOException {
        var selected = select(name, range);
        try (var opened = selected.device()) {
            assertThat(opened.name()).isEqualTo(device);
            assertThat(selected.address()).isEqualTo(InetAddress.ofLiteral(address));
        }
        assertThat(verbs.openDevices()).isEmpty();
    }

    private DeviceSelection.Selected select(String name, String range) throws IOException {
        return selection.select(
                Optional.of(name).filter(text -> !text.isEmpty()),
                Optional.of(range).filter(text -> !text.isEmpty()).map(AddressRange::parse));
    }

    private void shouldReject(String name, String range, String... message) {
        assertThatThrownBy(() -> select(name, range))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll(message);
        assertThat(verbs.openDevices()).isEmpty();
    }

    @Test
    void shouldSelectTheFirstDeviceByDefault() throws Exception {
        shouldSelect("soft0", FIRST, "", "");
    }

    @Test
    void shouldSelectTheFirstDeviceWithAnActivePort() throws Exception {
        fabric.devices().getFirst().linkDown();

        shouldSelect("soft1", SECOND, "", "");
    }

    @Test
    void shouldReportThatNoDeviceHasAnActivePort() {
        fabric.devices().forEach(device -> device.linkDown());

        shouldReject("", "", "active port", "soft0, soft1", "spark.jrdma.shuffle.address");
    }

    @Test
    void shouldSelectADeviceByNameAlthoughItsPortIsNotActive() throws Exception {
        fabric.devices().getFirst().linkDown();

        shouldSelect("soft0", FIRST, "soft0", "");
    }

    @Test
    void shouldSelectTheDeviceThatHasAnAddress() throws Exception {
        shouldSelect("soft1", SECOND, "", SECOND);
        shouldSelect("soft0", FIRST, "soft0", FIRST);
    }

    @Test
    void shouldSelectADeviceThatHasAnAddressInASubnet() throws Exception {
        shouldSelect("soft0", FIRST, "", "127.0.84.0/24");
        shouldSelect("soft1", SECOND, "", "127.0.84.2/31");
        shouldSelect("soft1", SECOND, "soft1", "127.0.84.0/24");
    }

    @Test
    void shouldRejectAnAddressThatNoDeviceHas() {
        assertThatThrownBy(() -> select("", "127.0.84.3"))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(
                        "No RDMA device has the address 127.0.84.3. Set spark.jrdma.shuffle.address");
        assertThat(verbs.openDevices()).isEmpty();
    }

    @Test
    void shouldRejectASubnetInWhichThisMachineHasNoAddress() {
        shouldReject(
                "",
                "198.51.100.0/24",
                "No RDMA device has an address in 198.51.100.0/24.",
                "[]. Set spark.jrdma.shuffle.address");
    }

    @Test
    void shouldRejectAnAddressOfAnotherDeviceThanTheNamedOne() {
        shouldReject("soft0", SECOND, "RDMA device soft0 does not have the address " + SECOND);
    }

    @Test
    void shouldUseTheAddressesOfAPortAlthoughAnotherPortFails() {
        var gid = Gid.of(InetAddress.ofLiteral(SECOND));
        var entry = new GidEntry(2, 0, gid, GidEntry.Type.ROCE_V2, "");

        var addresses =
                DeviceSelection.addresses(
                        3,
                        port -> {
                            if (port == 2) {
                                return GidRanking.among(List.of(entry));
                            }
                            throw new VerbsException("ibv_query_port", "", Errno.EIO, "");
                        });

        assertThat(addresses).containsExactly(InetAddress.ofLiteral(SECOND));
    }

    @Test
    void shouldRejectANameThatNoDeviceHas() {
        shouldReject("soft7", "", "soft7", "soft0, soft1");
    }

    @Test
    void shouldExplainHowToGetADevice() throws Exception {
        var empty = SoftRoce.onLoopback(0);
        selection = new DeviceSelection(Verbs.from(empty), ConnectionManager.from(empty));

        shouldReject("", "", "This machine has no RDMA device");
    }
}
