package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.sisci.FaultOptions;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of a link that is cut and restored. The first node owns a segment, and the second node
 * stores into it.
 */
class CutLinkTest {

    private static final long BYTES = ThreeNodes.BYTES;

    private ThreeNodes nodes;
    private long segment;
    private MemorySegment ownMemory;
    private long remote;
    private LibraryCaller.Mapped map;
    private long sequence;

    @BeforeEach
    void connect() throws Exception {
        nodes = new ThreeNodes(FaultOptions.NONE);
        segment = nodes.first.offer(nodes.firstDescriptor, 7, BYTES);
        ownMemory = nodes.first.mapLocal(segment, BYTES).memory();
        remote = nodes.second.connect(nodes.secondDescriptor, nodes.first.node(), 7);
        map = nodes.second.mapRemote(remote, BYTES);
        sequence = nodes.second.sequence(map);
        assertThat(nodes.first.localEvent(segment)).isEqualTo(sisci_h.SCI_CB_CONNECT());
    }

    @AfterEach
    void leave() throws Exception {
        nodes.close();
    }

    private int check() {
        return (int) nodes.second.ok("SCICheckSequence", sequence, 0);
    }

    private int start() {
        return (int) nodes.second.ok("SCIStartSequence", sequence, 0);
    }

    @Test
    void shouldLoseStoresWhileTheLinkIsCut() throws Exception {
        map.memory().set(JAVA_LONG, 0, 1);

        nodes.first.fabric().cutLink(0);
        map.memory().set(JAVA_LONG, 0, 2);

        assertThat(ownMemory.get(JAVA_LONG, 0)).isEqualTo(1);
        assertThat(map.memory().get(JAVA_LONG, 8)).isEqualTo(-1);
        nodes.first.fabric().restoreLink(0);
        assertThat(map.memory().get(JAVA_LONG, 0)).isEqualTo(1);
        map.memory().set(JAVA_LONG, 0, 3);
        assertThat(ownMemory.get(JAVA_LONG, 0)).isEqualTo(3);
    }

    @Test
    void shouldRejectACutBeforeInitialization(@TempDir Path folder) {
        var uninitialized = new SoftSisci(SoftSisciOptions.in(folder));

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> uninitialized.cutLink(0))
                .withMessageContaining("Open a node first");
    }

    @Test
    void shouldNotifyBothEnds() throws Exception {
        nodes.second.fabric().cutLink(0);

        assertThat(nodes.second.remoteEvent(remote)).isEqualTo(sisci_h.SCI_CB_NOT_OPERATIONAL());
        assertThat(nodes.first.localEvent(segment)).isEqualTo(sisci_h.SCI_CB_NOT_OPERATIONAL());
        nodes.second.fabric().restoreLink(0);
        assertThat(nodes.second.remoteEvent(remote)).isEqualTo(sisci_h.SCI_CB_OPERATIONAL());
        assertThat(nodes.first.localEvent(segment)).isEqualTo(sisci_h.SCI_CB_OPERATIONAL());
    }

    @Test
    void shouldReportNotRetriableUntilTheSequenceCanBeStarted() throws Exception {
        assertThat(start()).isEqualTo(sisci_h.SCI_SEQ_OK());
        assertThat(check()).isEqualTo(sisci_h.SCI_SEQ_OK());

        nodes.first.fabric().cutLink(0);
        assertThat(check()).isEqualTo(sisci_h.SCI_SEQ_NOT_RETRIABLE());
        assertThat(start()).isEqualTo(sisci_h.SCI_SEQ_NOT_RETRIABLE());
        nodes.first.fabric().restoreLink(0);

        assertThat(check()).isEqualTo(sisci_h.SCI_SEQ_NOT_RETRIABLE());
        assertThat(start()).isEqualTo(sisci_h.SCI_SEQ_OK());
        assertThat(check()).isEqualTo(sisci_h.SCI_SEQ_OK());
    }

    @Test
    void shouldReportRetriableAfterATemporaryCut() throws Exception {
        assertThat(start()).isEqualTo(sisci_h.SCI_SEQ_OK());

        nodes.first.fabric().cutLink(0);
        nodes.first.fabric().restoreLink(0);

        assertThat(check()).isEqualTo(sisci_h.SCI_SEQ_RETRIABLE());
        assertThat(check()).isEqualTo(sisci_h.SCI_SEQ_OK());
    }

    @Test
    void shouldReportWhichLinkPreventsAConnection() throws Exception {
        nodes.first.fabric().cutLink(0);

        assertThat(connectError(nodes.second, nodes.secondDescriptor, nodes.first.node()))
                .isEqualTo("NO_REMOTE_LINK_ACCESS");
        assertThat(connectError(nodes.first, nodes.firstDescriptor, nodes.second.node()))
                .isEqualTo("NO_LINK_ACCESS");
        assertThat(
                        nodes.second.attempt(
                                "SCIProbeNode", nodes.secondDescriptor, 0, nodes.first.node(), 0))
                .isEqualTo("NO_REMOTE_LINK_ACCESS");
        assertThat(
                        nodes.second.ok(
                                "SCIProbeNode", nodes.secondDescriptor, 0, nodes.third.node(), 0))
                .isEqualTo(1);
        assertThat(connectError(nodes.first, nodes.firstDescriptor, nodes.first.node()))
                .isEqualTo("OK"); // A connection within a node uses no link.
    }

    private static String connectError(LibraryCaller process, long descriptor, int node) {
        return process.attempt(
                "SCIConnectSegment",
                descriptor,
                process.place().address(),
                node,
                7,
                0,
                0,
                0,
                -1,
                0);
    }

    @Test
    void shouldReportAFailedCopyWithErrorCheck() throws Exception {
        var errorCheck = nodes.second.constant("SCI_FLAG_ERROR_CHECK");
        try (var arena = Arena.ofConfined()) {
            var data = arena.allocate(BYTES).fill((byte) 9);
            nodes.first.fabric().cutLink(0);

            assertThat(
                            nodes.second.attempt(
                                    "SCIMemCpy",
                                    sequence,
                                    data.address(),
                                    map.handle(),
                                    0,
                                    BYTES,
                                    errorCheck))
                    .isEqualTo("TRANSFER_FAILED");
            assertThat(ownMemory.get(JAVA_LONG, 0)).isZero();
        }
    }

    @Test
    void shouldNotTearWordsWhenTheLinkIsCutDuringStores() throws Exception {
        var running = new AtomicBoolean(true);
        var writer =
                Thread.ofPlatform()
                        .start(() -> {
                            for (var i = 1L; running.get(); i++) {
                                map.memory().set(JAVA_LONG, 0, i << 32 | i);
                            }
                        });

        for (var i = 0; i < 200; i++) {
            nodes.first.fabric().cutLink(0);
            var before = ownMemory.get(JAVA_LONG, 0);
            Thread.onSpinWait();
            assertThat(ownMemory.get(JAVA_LONG, 0)).isEqualTo(before);
            assertThat((int) before).isEqualTo((int) (before >>> 32));
            nodes.first.fabric().restoreLink(0);
        }

        running.set(false);
        writer.join();
    }
}
