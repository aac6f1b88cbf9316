package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the transfer of blocks between two executors, which are in this JVM, without Spark. */
@Timeout(60)
class BlockTransferTest extends BlockTransferFixture {

    @Test
    void shouldReadBlocksAndReturnTheirBuffers() throws Exception {
        write(0, 1);
        write(0, 2);

        var task = fetch("shuffle_0_1_0", "shuffle_0_1_19", "shuffle_0_2_3_5");

        assertThat(task.stock).isEmpty();
        assertThat(task.bytes("shuffle_0_1_0")).hasSize(PARTITION_BYTES).containsOnly(0);
        assertThat(task.bytes("shuffle_0_1_19")).hasSize(PARTITION_BYTES).containsOnly(19);
        assertThat(task.bytes("shuffle_0_2_3_5")).hasSize(2 * PARTITION_BYTES).contains(3, 4);
        assertThat(value(Metric.BLOCKS_READ)).isEqualTo(3);
        assertThat(value(Metric.REGISTRATIONS)).isEqualTo(2);

        task.release();
        awaitReturnOfBuffers();
    }

    @Test
    void shouldReadMoreBlocksThanFitIntoOneMessage() throws Exception {
        var count = 2 * PeerMessage.MAX_BLOCKS + 1;
        var content = new byte[count];
        for (var i = 0; i < count; i++) {
            content[i] = (byte) i;
        }
        var file = Files.write(folder.resolve("many"), content);
        indexes.put(
                new MapOutputIndex.Key(0, 1),
                new MapOutputIndex(file, count, LongStream.rangeClosed(0, count).toArray()));
        var names =
                IntStream.range(0, count)
                        .mapToObj("shuffle_0_1_%d"::formatted)
                        .toArray(String[]::new);

        var task = fetch(names);

        assertThat(task.stock).isEmpty();
        assertThat(task.blocks).hasSizeGreaterThan(PeerMessage.MAX_BLOCKS).containsOnlyKeys(names);
        for (var i = 0; i < count; i++) {
            assertThat(task.bytes(names[i])).containsExactly(content[i]);
        }
        task.release();
    }

    @Test
    void shouldReadBlocksThatTogetherExceedTheBuffers() throws Exception {
        write(0, 1);
        var small = domain.newBufferPool(60 << 10, Access.LOCAL_WRITE);
        try (var reader = peer(settings, small)) {
            var task = fetch(reader, "shuffle_0_1_0_2", "shuffle_0_1_4_8");

            assertThat(task.stock).isEmpty();
            task.release();
        }
    }

    @Test
    void shouldLeaveUnknownBlocksToStock() throws Exception {
        write(0, 1);

        var task = fetch("shuffle_0_1_0", "shuffle_0_7_0", "shuffle_0_1_20", "shuffle_0_1_5_3");

        assertThat(task.blocks).containsOnlyKeys("shuffle_0_1_0");
        assertThat(task.stock)
                .containsExactlyInAnyOrder("shuffle_0_7_0", "shuffle_0_1_20", "shuffle_0_1_5_3");
        task.release();
    }

    @Test
    void shouldDeregisterLeastRecentlyUsedOutputsAtTheLimit() throws Exception {
        for (var map = 1; map <= 4; map++) {
            write(0, map);
            fetch("shuffle_0_%d_0".formatted(map)).release();
        }

        assertThat(value(Metric.BLOCKS_READ)).isEqualTo(4);
        assertThat(value(Metric.EVICTIONS)).isEqualTo(2);
        assertThat(value(Metric.REGISTERED_FILES)).isEqualTo(2);
        assertThat(value(Metric.REGISTERED_BYTES)).isEqualTo(2 * FILE_BYTES);
    }

    @Test
    void shouldLeaveBlocksToStockIfTheOutputsInUseReachTheLimit() throws Exception {
        write(0, 1);
        write(0, 2);
        write(0, 3);
        var first = outputs.acquire(new MapOutputIndex.Key(0, 1)).orElseThrow();
        var second = outputs.acquire(new MapOutputIndex.Key(0, 2)).orElseThrow();

        assertThat(fetch("shuffle_0_3_0").stock).containsExactly("shuffle_0_3_0");

        outputs.release(first);
        outputs.release(second);
        assertThat(fetch("shuffle_0_3_0").stock).isEmpty();
    }

    @Test
    void shouldKeepAForgottenOutputUntilItsLastUserHasFinished() throws Exception {
        write(5, 1);
        var output = outputs.acquire(new MapOutputIndex.Key(5, 1)).orElseThrow();

        outputs.forget(5);
        assertThat(value(Metric.REGISTERED_FILES)).isOne();

        outputs.release(output);
        assertThat(value(Metric.REGISTERED_FILES)).isZero();
        assertThat(value(Metric.REGISTERED_BYTES)).isZero();
    }

    @Test
    void shouldNotKeepAnOutputWhoseShuffleIsForgottenDuringTheRegistration() throws Exception {
        write(5, 1);
        afterFind = () -> outputs.forget(5);
        var output = outputs.acquire(new MapOutputIndex.Key(5, 1)).orElseThrow();
        assertThat(value(Metric.REGISTERED_FILES)).isOne();

        outputs.release(output);
        assertThat(value(Metric.REGISTERED_FILES)).isZero();
        assertThat(value(Metric.REGISTERED_BYTES)).isZero();
    }

    @Test
    void shouldWarnOnceIfManyOutputsCannotBeRegistered() throws Exception {
        try (var log = new CapturedLog(MapOutputs.class)) {
            for (var map = 0; map < 100; map++) {
                outputs.logRefusal(
                        new MapOutputIndex.Key(0, map),
                        new VerbsException("ibv_reg_mr", "cannot lock memory"));
            }

            assertThat(log.warnings()).singleElement().asString().contains("over TCP");
        }
    }

    @Test
    void shouldWarnAboutAnOutputThatCannotBeReadButNotAboutOneThatDoesNotExist() throws Exception {
        var unreadable = folder.resolve("too long".repeat(100));
        indexes.put(
                new MapOutputIndex.Key(0, 1),
                new MapOutputIndex(unreadable, FILE_BYTES, 0, FILE_BYTES));
        try (var log = new CapturedLog(MapOutputs.class)) {
            assertThat(fetch("shuffle_0_7_0").stock).containsExactly("shuffle_0_7_0");
            assertThat(log.warnings()).isEmpty();

            assertThat(fetch("shuffle_0_1_0").stock).containsExactly("shuffle_0_1_0");
            assertThat(log.warnings()).singleElement().asString().contains("over TCP");
        }
        assertThat(value(Metric.BLOCKS_REFUSED)).isEqualTo(2);
        assertThat(value(Metric.REGISTERED_BYTES)).isZero();
    }

    @Test
    void shouldDeregisterNoOutputsForAnOutputAboveTheLimit() throws Exception {
        write(0, 1);
        fetch("shuffle_0_1_0").release();
        var file = Files.write(folder.resolve("large"), new byte[3 * FILE_BYTES]);
        indexes.put(
                new MapOutputIndex.Key(0, 2),
                new MapOutputIndex(file, 3 * FILE_BYTES, 0, 3 * FILE_BYTES));

        assertThat(fetch("shuffle_0_2_0").stock).containsExactly("shuffle_0_2_0");
        assertThat(value(Metric.EVICTIONS)).isZero();
        assertThat(value(Metric.REGISTERED_FILES)).isOne();
    }

    @Test
    void shouldFailBlocksThatTheClientOfSparkDoesNotAccept() throws Exception {
        var task = new Task();
        var block =
                new Fetch.Block(
                        "shuffle_0_7_0", PartitionRange.parse("shuffle_0_7_0").orElseThrow());
        peer.submit(
                new Fetch(
                        List.of(block),
                        task,
                        _ -> {
                            throw new IllegalStateException("The client is closed");
                        },
                        null));

        assertThat(task.received.poll(30, TimeUnit.SECONDS)).isEqualTo("shuffle_0_7_0 failed");
    }

    @Test
    void shouldWaitForABufferAgainAfterAnEarlierWaitWasTooLong() throws Exception {
        write(0, 1);
        var held = buffers.tryTake(POOL_BYTES);
        assertThat(fetch("shuffle_0_1_0").stock).hasSize(1);
        var _ =
                CompletableFuture.runAsync(
                        held::release,
                        CompletableFuture.delayedExecutor(300, TimeUnit.MILLISECONDS));

        var task = fetch("shuffle_0_1_1");

        assertThat(task.stock).isEmpty();
        task.release();
    }

    @Test
    void shouldLeaveBlocksToStockIfNoBufferIsReleased() throws Exception {
        write(0, 1);
        var held = buffers.tryTake(POOL_BYTES);

        assertThat(fetch("shuffle_0_1_0").stock).containsExactly("shuffle_0_1_0");

        held.release();
        assertThat(fetch("shuffle_0_1_0").stock).isEmpty();
    }

    @Test
    void shouldLeaveBlocksToStockAndKeepTheChannelIfNoBufferCanBeRegistered() throws Exception {
        write(0, 1);
        // The registration fails: REMOTE_WRITE requires LOCAL_WRITE.
        var unusable = domain.newBufferPool(POOL_BYTES, Access.REMOTE_WRITE);
        try (var reader = peer(settings, unusable)) {
            assertThat(fetch(reader, "shuffle_0_1_0").stock).containsExactly("shuffle_0_1_0");
            assertThat(fetch(reader, "shuffle_0_1_1").stock).containsExactly("shuffle_0_1_1");
        }

        assertThat(connections).hasValue(1);
        assertThat(value(Metric.CONNECTION_FAILURES)).isZero();
        assertThat(avoidance.isAvoided(SERVER)).isFalse();
    }

    @Test
    void shouldReconnectIfTheChannelFailsBeforeABlockIsRead() throws Exception {
        write(0, 1);
        var isFirst = new AtomicBoolean(true);
        afterFind =
                () -> {
                    if (isFirst.getAndSet(false)) {
                        server.closeChannels();
                    }
                };

        var task = fetch("shuffle_0_1_0");

        assertThat(task.stock).isEmpty();
        assertThat(connections).hasValue(2);
        assertThat(value(Metric.CONNECTION_FAILURES)).isZero();
        task.release();
    }

    @Test
    void shouldReleaseTheOutputsThatAnExecutorWasReadingWhenItEnded() throws Exception {
        write(0, 1);
        try (var channel = connect(SERVER, settings)) {
            var block = PartitionRange.parse("shuffle_0_1_0").orElseThrow();
            var request = new PeerMessage.Locate(1, List.of(block)).encode();
            assertThat(channel.trySend(MemorySegment.ofBuffer(request))).isTrue();
            awaitValue(Metric.BLOCKS_LOCATED, 1);
            outputs.forget(0);
            assertThat(value(Metric.REGISTERED_FILES)).isOne();
        }

        awaitValue(Metric.REGISTERED_FILES, 0);
        assertThat(value(Metric.REGISTERED_BYTES)).isZero();
    }

    @Test
    void shouldReturnTheBuffersOfReadsThatFail() throws Exception {
        write(0, 1);
        var isDeregistered = new CountDownLatch(1);
        var isFirst = new AtomicBoolean(true);
        afterFind =
                () -> {
                    if (isFirst.getAndSet(false)) {
                        runWithPeerLocked(() -> awaitUninterruptibly(isDeregistered));
                    }
                };
        var task = new Task();
        var block =
                new Fetch.Block(
                        "shuffle_0_1_0", PartitionRange.parse("shuffle_0_1_0").orElseThrow());
        try {
            peer.submit(new Fetch(List.of(block), task, task::stock, null));
            awaitValue(Metric.BLOCKS_LOCATED, 1);
            outputs.close(); // The first read fails with a remote access error.
        } finally {
            isDeregistered.countDown();
        }

        task.await(1);

        assertThat(connections).as("a connection for each read").hasValue(2);
        assertThat(task.blocks).containsOnlyKeys("shuffle_0_1_0");
        task.release();
        awaitReturnOfBuffers();
    }

    @Test
    void shouldRejectAnExecutorOfAnotherApplication() throws Exception {
        write(0, 1);
        try (var log = new CapturedLog(BlockServer.class);
                var stranger = peer(ChannelSettings.of(ChannelSettings.newToken()))) {
            // Connects twice.
            assertThat(fetch(stranger, "shuffle_0_1_0").stock).containsExactly("shuffle_0_1_0");

            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .contains("not from this application");
        }
        assertThat(connections).hasValue(2);
        assertThat(value(Metric.REGISTRATIONS)).isZero();
    }

    @Test
    void shouldLeaveBlocksToStockIfTheDriverKnowsNoAddress() throws Exception {
        plugin.answer = "";

        assertThat(fetch("shuffle_0_1_0").stock).containsExactly("shuffle_0_1_0");
        assertThatThrownBy(() -> addresses.find(SERVER))
                .isInstanceOf(PeerAddresses.NotListedException.class);
    }

    @Test
    void shouldAvoidAnExecutorWithoutAnAddressPermanently() throws Exception {
        plugin.answer = "";
        assertThat(fetch("shuffle_0_1_0").stock).containsExactly("shuffle_0_1_0");

        now.addAndGet(PeerAvoidance.LONGEST.toNanos());
        assertThat(avoidance.isAvoided(SERVER)).isTrue();
        assertThat(value(Metric.CONNECTION_FAILURES)).isZero();
    }

    @Test
    void shouldAvoidAnExecutorThatFailedAndThenConnectOnlyOnce() throws Exception {
        server.close();
        assertThat(fetch("shuffle_0_1_0").stock).containsExactly("shuffle_0_1_0");
        assertThat(connections).hasValue(2);
        assertThat(avoidance.isAvoided(SERVER)).isTrue();

        now.addAndGet(PeerAvoidance.FIRST.toNanos());
        assertThat(avoidance.isAvoided(SERVER)).isFalse();
        assertThat(fetch("shuffle_0_1_0").stock).containsExactly("shuffle_0_1_0");

        assertThat(connections).hasValue(3);
        assertThat(value(Metric.CONNECTION_FAILURES)).isEqualTo(2);
        now.addAndGet(PeerAvoidance.FIRST.toNanos());
        assertThat(avoidance.isAvoided(SERVER)).as("avoided for twice as long").isTrue();
    }

    @Test
    void shouldForgetThatAnExecutorFailedWhenABlockIsRead() throws Exception {
        write(0, 1);
        avoidance.avoid(SERVER);

        fetch("shuffle_0_1_0").release();
        server.closeChannels();

        LocalCluster.await(TIMEOUT, () -> !avoidance.hasFailed(SERVER));
    }

    @Test
    void shouldLeaveBlocksToStockIfAnExecutorDoesNotAnswerInTime() throws Exception {
        write(0, 1);
        var mayAnswer = new CountDownLatch(1);
        afterFind = () -> awaitUninterruptibly(mayAnswer);
        var impatient = new PeerFetcher.Timeouts(Duration.ofMinutes(1), Duration.ofMillis(1));
        try (var reader = peer(impatient)) {
            assertThat(fetch(reader, "shuffle_0_1_0").stock).containsExactly("shuffle_0_1_0");
        } finally {
            mayAnswer.countDown();
        }
        assertThat(connections).hasValue(2);
        assertThat(value(Metric.CONNECTION_FAILURES)).isOne();
    }

    private PeerFetcher peer(PeerFetcher.Timeouts timeouts) {
        return new PeerFetcher(
                SERVER,
                executor -> connect(executor, settings),
                avoidance,
                new BlockBuffers(buffers, metrics),
                timeouts,
                metrics);
    }

    @Test
    void shouldNotReconnectIfAnIdleChannelEnds() throws Exception {
        write(0, 1);
        fetch("shuffle_0_1_0").release();

        server.close();

        LocalCluster.await(TIMEOUT, () -> !isFetching());
        assertThat(value(Metric.BUFFER_BYTES)).as("memory of idle buffers").isZero();
        assertThat(connections).hasValue(1);
        assertThat(value(Metric.CONNECTION_FAILURES)).isZero();
        assertThat(avoidance.isAvoided(SERVER)).isFalse();
    }

    private static boolean isFetching() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("jrdma-shuffle-fetch-" + SERVER));
    }

    @Test
    void shouldFetchBlocksAfterAThreadCouldNotBeStarted() throws Exception {
        write(0, 1);
        var starts = new AtomicInteger();
        try (var reader =
                new PeerFetcher(
                        SERVER,
                        executor -> connect(executor, settings),
                        avoidance,
                        new BlockBuffers(buffers, metrics),
                        TIMEOUTS,
                        metrics,
                        fetching ->
                                starts.getAndIncrement() == 0
                                        ? threadThatCannotStart()
                                        : Thread.ofPlatform().daemon().unstarted(fetching))) {
            assertThatThrownBy(() -> fetch(reader, "shuffle_0_1_0"))
                    .isInstanceOf(OutOfMemoryError.class);

            var task = fetch(reader, "shuffle_0_1_1");

            assertThat(task.stock).isEmpty();
            task.release();
        }
        assertThat(value(Metric.BLOCKS_READ)).isOne();
    }

    private static Thread threadThatCannotStart() {
        return new Thread() {
            @Override
            public void start() {
                throw new OutOfMemoryError("unable to create native thread");
            }
        };
    }
}
