package org.jrdma.volume.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.protocol.FilePath;
import org.jrdma.volume.protocol.Operation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FileCloseTest {

    private final LocalCluster cluster;
    private final RecordingConnector connector;
    private final FileHandle file;

    FileCloseTest() throws FabricException {
        cluster = new LocalCluster(8192, 1);
        connector = new RecordingConnector(cluster.connector());
        file =
                cluster.newClient("client", Optional.of(cluster.drive()), connector)
                        .open(FilePath.of("/file"), Creation.NEW, 0644);
    }

    @AfterEach
    void stop() throws FabricException {
        assertThat(cluster.stopAndCheck()).isEmpty();
    }

    @Test
    void shouldReportTheLossOfDataAlsoIfTheFileCannotBeClosed() throws Exception {
        file.write(0, MemorySegment.ofArray(new byte[4096]));
        connector.refuse(Operation.COMMIT);
        connector.refuse(Operation.CLOSE);

        assertThatThrownBy(file::close)
                .hasMessageContaining("COMMIT fails")
                .satisfies(force -> {
                    assertThat(force.getSuppressed()).hasSize(1);
                    var commit = force.getSuppressed()[0];
                    assertThat(commit).hasMessageContaining("COMMIT fails");
                    assertThat(commit.getSuppressed()).hasSize(1);
                    assertThat(commit.getSuppressed()[0]).hasMessageContaining("CLOSE fails");
                });
    }

    @Test
    void shouldReportAFileThatCannotBeClosed() throws Exception {
        connector.refuse(Operation.CLOSE);

        assertThatThrownBy(file::close).hasMessageContaining("CLOSE fails");
    }
}
