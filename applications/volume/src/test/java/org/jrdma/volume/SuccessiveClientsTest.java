package org.jrdma.volume;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.util.List;
import org.jrdma.nvme.soft.BlockStorage;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.StoppableNvmeHost;
import org.jrdma.volume.model.DataPathState;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.TransportKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SuccessiveClientsTest {

    /** More than the registrants that the drive accepts from one controller. */
    private static final int CLIENTS = 20;

    private static final NodeOptions NODE =
            NodeOptions.of(TransportKind.SOCKETS)
                    .socketAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));

    @Test
    void shouldUseTheDirectPathInManyClientsThatBorrowAControllerInSuccession() throws Exception {
        var subsystem = new Subsystem("serial", "test drive");
        try (var storage = BlockStorage.inMemory(8192, Drive.BLOCK_BYTES)) {
            var _ = subsystem.addNamespace(storage);
            try (var serverHost = new StoppableNvmeHost(subsystem);
                    var host = new StoppableNvmeHost(subsystem)) {
                VolumeServer.create(serverHost.drive());
                try (var server =
                        VolumeServer.start(
                                serverHost.drive(), ServerOptions.named("server").node(NODE))) {
                    for (var client = 0; client < CLIENTS; client++) {
                        writeDirectly(server, host.drive(), "client-" + client);
                        host.openAsAnotherHost();
                    }
                }
            }
        }
    }

    private static void writeDirectly(VolumeServer server, Drive drive, String name)
            throws Exception {
        var options = VolumeOptions.of(name, List.of(server.addresses())).node(NODE).drive(drive);
        try (var volume = Volume.open(options)) {
            Files.writeString(volume.path("/" + name), "content");
            assertThat(volume.state().data().kind()).isEqualTo(DataPathState.Kind.DIRECT);
            assertThat(volume.state().data().switches()).as(volume.describe()).isZero();
        }
    }
}
