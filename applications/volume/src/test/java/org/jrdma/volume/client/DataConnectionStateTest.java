package org.jrdma.volume.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.model.ConnectionDescription;
import org.jrdma.volume.protocol.FilePath;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the state of the connection over which data is redirected. */
@Timeout(60)
class DataConnectionStateTest {

    private volatile String description = "before";

    private ServerConnector connector(ServerConnector connector) {
        return (addresses, incoming, timeout) ->
                new DelegatingConnection(connector.connect(addresses, incoming, timeout)) {
                    @Override
                    public ConnectionDescription state() {
                        return new ConnectionDescription(addresses, "test", description, List.of());
                    }
                };
    }

    @Test
    void shouldContainTheCurrentDescriptionOfTheConnection() throws Exception {
        var cluster = new LocalCluster(8192, 1);
        var _ = cluster.coordinator();
        var _ = cluster.serveBlocks(0);
        var client = cluster.newClient("client", Optional.empty(), connector(cluster.connector()));
        try (var file = client.open(FilePath.of("/file"), Creation.NEW, 0644)) {
            file.write(0, MemorySegment.ofArray(new byte[4096]));
            description = "after";

            assertThat(client.state().data().connection().orElseThrow().description())
                    .isEqualTo("after");
        }
        assertThat(cluster.stopAndCheck()).isEmpty();
    }
}
