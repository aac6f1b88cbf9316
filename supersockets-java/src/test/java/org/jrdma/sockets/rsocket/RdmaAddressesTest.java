package org.jrdma.sockets.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jrdma.ffi.doctor.MachineFiles;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests simulated devices that refer to the network interfaces of this machine. */
class RdmaAddressesTest {

    @TempDir private Path root;

    private void device(String name, String type, String... interfaces) throws IOException {
        var device = Files.createDirectories(root.resolve("sys/class/infiniband").resolve(name));
        Files.writeString(device.resolve("node_type"), type + "\n");
        var table = Files.createDirectories(device.resolve("ports/1/gid_attrs/ndevs"));
        for (var i = 0; i < interfaces.length; i++) {
            Files.writeString(table.resolve(Integer.toString(i)), interfaces[i] + "\n");
        }
    }

    private RdmaAddresses addresses() {
        return new RdmaAddresses(new MachineFiles(root));
    }

    private static InetAddress loopback() {
        return InetAddress.ofLiteral("127.0.0.1");
    }

    @Test
    void shouldReturnTheAddressesOfTheInterfacesOfADevice() throws Exception {
        var name = NetworkInterface.getByInetAddress(loopback()).getName();
        device("rxe0", "1: CA", "nowhere0", name);

        var addresses = addresses();

        assertThat(addresses.whyNone()).isEmpty();
        assertThat(addresses.interfaces()).containsExactlyInAnyOrder("nowhere0", name);
        assertThat(addresses.has(loopback())).isTrue();
        assertThat(addresses.has(InetAddress.ofLiteral("192.0.2.1"))).isFalse();
        assertThat(addresses.all()).contains(loopback());
    }

    @Test
    void shouldFindTheInterfacesOfADeviceWithoutAGidTable() throws Exception {
        device("mlx5_0", "1: CA");
        Files.createDirectories(root.resolve("sys/class/infiniband/mlx5_0/device/net/ib0"));

        assertThat(addresses().interfaces()).containsExactly("ib0");
    }

    @Test
    void shouldReportWhyThereAreNoAddresses() throws Exception {
        assertThat(addresses().whyNone()).hasValue("this machine has no RDMA device");

        device("siw0", "4: RNIC", "dummy1");
        assertThat(addresses().whyNone())
                .hasValue("all RDMA devices are iWARP devices, which share their ports with TCP");
        assertThat(addresses().interfaces()).isEmpty();

        device("mlx5_0", "1: CA");
        assertThat(addresses().whyNone())
                .hasValue("no RDMA device has a network interface: mlx5_0, siw0");
    }

    @ParameterizedTest
    @CsvSource({
        "/usr/lib/x86_64-linux-gnu/librdmacm.so.1.3.44.0, false",
        "/usr/lib64/librdmacm.so.1.3.52.0, false",
        "/usr/lib64/librdmacm.so.1.3.53.0, true",
        "/opt/lib/librdmacm.so.1.4.65.0, true",
        "librdmacm.so.1, false"
    })
    void shouldRecognizeALibraryWhoseTablesMustNotGrow(String library, boolean growsSafely) {
        assertThat(RsocketRuntime.growsSafely(library)).isEqualTo(growsSafely);
    }
}
