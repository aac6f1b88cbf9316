package org.jrdma.tck.sisci;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.jrdma.tck.sisci.Refusals.refuses;

import java.lang.foreign.Arena;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.DmaTransfer;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.SegmentOptions;
import org.jrdma.sisci.model.SequenceStatus;
import org.jrdma.sisci.model.SisciError;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A link that is cut while stores are under way. */
class LinkTest extends NodesTest {

    private static final int ROUNDS = 20;
    private static final int BLOCK = 4096;
    private static final int BLOCKS = (int) BYTES / BLOCK;

    private Fabric.Cable cable;
    private RemoteMap map;

    @BeforeEach
    void map() throws Exception {
        cable = fabric.cable();
        map = mapOfPeer(SEGMENT, BYTES);
    }

    @AfterEach
    void mend() throws Exception {
        cable.mend();
    }

    private int blocksAtPeer() throws Exception {
        return peer.ask(party -> {
            var there = 0;
            for (var i = 0; i < BLOCKS; i++) {
                var block = party.memory(SEGMENT).segment().asSlice((long) i * BLOCK, BLOCK);
                there += Memory.holds(block, i) ? 1 : 0;
            }
            return there;
        });
    }

    @Test
    void shouldLetNothingThroughWhileItIsCutAndEverythingOnceItIsMended() throws Exception {
        try (var arena = Arena.ofConfined();
                var sequence = map.newSequence()) {
            var block = arena.allocate(BLOCK);
            for (var i = 0; i < BLOCKS; i++) {
                Memory.fill(block, i);
                if (i == BLOCKS / 2) {
                    cable.cut();
                    assertThat(sequence.tryWrite((long) i * BLOCK, block))
                            .isNotEqualTo(SequenceStatus.OK);
                    assertThat(map.getLong(0)).isEqualTo(-1);
                    assertThatExceptionOfType(FabricTimeoutException.class)
                            .isThrownBy(() -> sequence.write(BYTES - BLOCK, block, ofMillis(50)))
                            .withMessageContaining("the last status was NOT_RETRIABLE");
                    assertThat(blocksAtPeer()).isEqualTo(BLOCKS / 2);
                    peer.tell(
                            party -> assertThat(party.memory(SEGMENT).getLong(BYTES - 8)).isZero());
                    cable.mend();
                    assertThat(sequence.write((long) i * BLOCK, block, SOON)).isPositive();
                } else {
                    assertThat(sequence.write((long) i * BLOCK, block, SOON)).isOne();
                }
            }
        }
        assertThat(blocksAtPeer()).isEqualTo(BLOCKS);
    }

    /** Cuts and mends by another thread, wherever they fall. */
    @Test
    void shouldLoseNoWriteOfASequenceToCutsAtAnyTime() throws Exception {
        var running = new AtomicBoolean(true);
        var cutting =
                Thread.ofPlatform()
                        .start(() -> {
                            try {
                                while (running.get()) {
                                    cable.cut();
                                    cable.mend();
                                }
                            } catch (Exception e) {
                                throw new AssertionError(e);
                            }
                        });
        var tries = 0;
        var writes = 0;
        try (var arena = Arena.ofConfined();
                var sequence = map.newSequence()) {
            var block = arena.allocate(BLOCK);
            for (var round = 0; round < ROUNDS || tries == writes; round++) { // some are in vain
                for (var i = 0; i < BLOCKS; i++) {
                    Memory.fill(block, round * BLOCKS + i);
                    tries += sequence.write((long) i * BLOCK, block, SOON);
                    writes++;
                    var seed = round * BLOCKS + i;
                    var offset = (long) i * BLOCK;
                    peer.tell(party ->
                            assertThat(
                                            Memory.holds(
                                                    party.memory(SEGMENT)
                                                            .segment()
                                                            .asSlice(offset, BLOCK),
                                                    seed))
                                    .isTrue());
                }
            }
        } finally {
            running.set(false);
            cutting.join();
        }
    }

    @Test
    void shouldFailACheckedCopyAndADmaTransfer() throws Exception {
        var local = node.newSegment(SegmentOptions.of(SEGMENT, BYTES).forThisSideOnly());
        local.prepare();
        var remote = node.connect(peer.node(), SEGMENT, SOON);
        var queue = node.newDmaQueue(1);
        try (var arena = Arena.ofConfined();
                var sequence = map.newSequence()) {
            var block = arena.allocate(BLOCK);
            Memory.fill(block, 1);
            assertThat(sequence.start()).isEqualTo(SequenceStatus.OK);
            cable.cut();

            refuses(SisciError.TRANSFER_FAILED, () -> sequence.copyFrom(block, 0));
            refuses(
                    SisciError.TRANSFER_FAILED,
                    () -> queue.transfer(DmaTransfer.push(local, 0, remote, 0, BYTES), SOON));
        }
        peer.tell(party -> assertThat(party.memory(SEGMENT).getLong(8)).isZero());
    }
}
