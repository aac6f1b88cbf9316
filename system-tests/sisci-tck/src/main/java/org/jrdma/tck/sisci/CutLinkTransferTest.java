package org.jrdma.tck.sisci;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.jrdma.tck.sisci.SisciAssertions.assertFails;

import java.lang.foreign.Arena;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.DmaTransferRequest;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.SegmentOptions;
import org.jrdma.sisci.model.SequenceStatus;
import org.jrdma.sisci.model.SisciError;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests stores and transfers while the link is cut. */
class CutLinkTransferTest extends AbstractMultiNodeTest {

    private static final int ROUNDS = 20;
    private static final int BLOCK = 4096;
    private static final int BLOCKS = (int) BYTES / BLOCK;

    private FabricUnderTest.Cable cable;
    private RemoteMap map;

    @BeforeEach
    void map() throws Exception {
        cable = fabric.cable();
        map = mapOfPeer(SEGMENT, BYTES);
    }

    @AfterEach
    void restore() throws Exception {
        cable.restore();
    }

    private int blocksAtPeer() throws Exception {
        return peer.call(context -> {
            var count = 0;
            for (var i = 0; i < BLOCKS; i++) {
                var block = context.memory(SEGMENT).segment().asSlice((long) i * BLOCK, BLOCK);
                count += TestPattern.holds(block, i) ? 1 : 0;
            }
            return count;
        });
    }

    @Test
    void shouldLoseStoresWhileTheLinkIsCutAndDeliverThemAfterwards() throws Exception {
        try (var arena = Arena.ofConfined();
                var sequence = map.newSequence()) {
            var block = arena.allocate(BLOCK);
            for (var i = 0; i < BLOCKS; i++) {
                TestPattern.fill(block, i);
                if (i == BLOCKS / 2) {
                    cable.cut();
                    assertThat(sequence.tryWrite((long) i * BLOCK, block))
                            .isNotEqualTo(SequenceStatus.OK);
                    assertThat(map.getLong(0)).isEqualTo(-1);
                    assertThatExceptionOfType(FabricTimeoutException.class)
                            .isThrownBy(() -> sequence.write(BYTES - BLOCK, block, ofMillis(50)))
                            .withMessageContaining("last status: NOT_RETRIABLE");
                    assertThat(blocksAtPeer()).isEqualTo(BLOCKS / 2);
                    peer.run(context ->
                            assertThat(context.memory(SEGMENT).getLong(BYTES - 8)).isZero());
                    cable.restore();
                    assertThat(sequence.write((long) i * BLOCK, block, TIMEOUT)).isPositive();
                } else {
                    assertThat(sequence.write((long) i * BLOCK, block, TIMEOUT)).isOne();
                }
            }
        }
        assertThat(blocksAtPeer()).isEqualTo(BLOCKS);
    }

    /** While this thread writes, another thread repeatedly cuts and restores the link. */
    @Test
    void shouldNotLoseWritesOfASequenceToConcurrentCuts() throws Exception {
        var running = new AtomicBoolean(true);
        var cutting =
                Thread.ofPlatform()
                        .start(() -> {
                            try {
                                while (running.get()) {
                                    cable.cut();
                                    cable.restore();
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
            // Repeats the rounds until at least one write had to be retried.
            for (var round = 0; round < ROUNDS || tries == writes; round++) {
                for (var i = 0; i < BLOCKS; i++) {
                    TestPattern.fill(block, round * BLOCKS + i);
                    tries += sequence.write((long) i * BLOCK, block, TIMEOUT);
                    writes++;
                    var seed = round * BLOCKS + i;
                    var offset = (long) i * BLOCK;
                    peer.run(context ->
                            assertThat(
                                            TestPattern.holds(
                                                    context.memory(SEGMENT)
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
    void shouldFailACheckedCopyAndADmaTransferWhileTheLinkIsCut() throws Exception {
        var local = node.newSegment(SegmentOptions.of(SEGMENT, BYTES).asPrivate());
        local.prepare();
        var remote = node.connect(peer.node(), SEGMENT, TIMEOUT);
        var queue = node.newDmaQueue(1);
        try (var arena = Arena.ofConfined();
                var sequence = map.newSequence()) {
            var block = arena.allocate(BLOCK);
            TestPattern.fill(block, 1);
            assertThat(sequence.start()).isEqualTo(SequenceStatus.OK);
            cable.cut();

            assertFails(SisciError.TRANSFER_FAILED, () -> sequence.copyFrom(block, 0));
            assertFails(
                    SisciError.TRANSFER_FAILED,
                    () ->
                            queue.transfer(
                                    DmaTransferRequest.push(local, 0, remote, 0, BYTES), TIMEOUT));
        }
        peer.run(context -> assertThat(context.memory(SEGMENT).getLong(8)).isZero());
    }
}
