package org.jrdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jrdma.abi.rdma.ibv_qp_cap;
import org.jrdma.abi.rdma.ibv_qp_init_attr;
import org.jrdma.abi.rdma.ibv_recv_wr;
import org.jrdma.abi.rdma.ibv_srq_attr;
import org.jrdma.abi.rdma.ibv_srq_init_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.PostException;
import org.jrdma.verbs.model.SharedReceiveQueueAttributes;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the calls of libibverbs for shared receive queues, and their failures. */
class SharedReceiveQueueTest {

    private FakeLibrary library;
    private Device device;
    private ProtectionDomain domain;
    private CompletionQueue completions;
    private PolledSharedReceiveQueue shared;

    @BeforeEach
    void open() throws Exception {
        open(new FakeLibrary());
        shared =
                domain.newPolledSharedReceiveQueue(
                        SharedReceiveQueueOptions.capacity(8).elements(2));
    }

    private void open(FakeLibrary newLibrary) throws Exception {
        library = newLibrary;
        device = Verbs.from(library).openFirst();
        domain = device.newProtectionDomain();
        completions = device.newCompletionQueue(64);
    }

    @AfterEach
    void close() {
        device.close();
    }

    private static MemorySegment copy(Object pointer, long bytes) {
        return Arena.ofAuto()
                .allocate(bytes, Long.BYTES)
                .copyFrom(FakeLibrary.memory(pointer, bytes));
    }

    private static void assertFailure(ThrowingCallable attempt, int errno, String message) {
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(attempt)
                .withMessage(message)
                .satisfies(e -> assertThat(e.code()).isEqualTo(errno));
    }

    private QueuePairOptions<PolledQueuePair> sharingOptions() {
        return QueuePairOptions.reliable(completions).sends(4).sharedReceives(shared);
    }

    private PreparedReceive prepareReceive() throws VerbsException {
        return shared.prepareReceive(
                domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE).slice());
    }

    @Test
    void shouldBeCreatedWithTheRequestedCapacity() throws Exception {
        var recorded = new ArrayList<Integer>();
        library.onCall(
                "ibv_create_srq",
                arguments -> {
                    var attributes =
                            ibv_srq_init_attr.attr(
                                    copy(arguments[1], ibv_srq_init_attr.layout().byteSize()));
                    recorded.add(ibv_srq_attr.max_wr(attributes));
                    recorded.add(ibv_srq_attr.max_sge(attributes));
                    recorded.add(ibv_srq_attr.srq_limit(attributes));
                });

        domain.newPolledSharedReceiveQueue(SharedReceiveQueueOptions.capacity(100).elements(3));
        domain.newPolledSharedReceiveQueue(7);

        assertThat(recorded).containsExactly(100, 3, 0, 7, 1, 0);
    }

    @Test
    void shouldReplaceTheReceiveQueuesOfItsQueuePairs() throws Exception {
        var recorded = new ArrayList<Object>();
        library.onCall(
                "ibv_create_qp",
                arguments -> {
                    var attributes = copy(arguments[1], ibv_qp_init_attr.layout().byteSize());
                    var capacities = ibv_qp_init_attr.cap(attributes);
                    recorded.add(ibv_qp_init_attr.srq(attributes).address());
                    recorded.add(ibv_qp_cap.max_recv_wr(capacities));
                    recorded.add(ibv_qp_cap.max_recv_sge(capacities));
                });

        domain.newQueuePair(sharingOptions().receives(5).receiveElements(6));
        domain.newQueuePair(QueuePairOptions.reliable(completions).receives(5).receiveElements(6));

        assertThat(recorded).containsExactly(shared.address().address(), 0, 0, 0L, 5, 6);
    }

    @Test
    void shouldChangeOneAttributeAtATime() throws Exception {
        var recorded = new ArrayList<Integer>();
        library.onCall(
                "ibv_modify_srq",
                arguments -> {
                    var attributes = copy(arguments[1], ibv_srq_attr.layout().byteSize());
                    recorded.add((int) arguments[2]);
                    recorded.add(ibv_srq_attr.max_wr(attributes));
                    recorded.add(ibv_srq_attr.srq_limit(attributes));
                });

        shared.limit(5);
        shared.resize(12);

        assertThat(recorded)
                .containsExactly(rdma_h.IBV_SRQ_LIMIT(), 0, 5, rdma_h.IBV_SRQ_MAX_WR(), 12, 0);
        assertThat(shared.capacity()).isEqualTo(12);
    }

    @Test
    void shouldReturnTheAttributesOfTheDevice() throws Exception {
        library.onCall(
                "ibv_query_srq",
                arguments -> {
                    var attributes =
                            FakeLibrary.memory(arguments[1], ibv_srq_attr.layout().byteSize());
                    ibv_srq_attr.max_wr(attributes, 31);
                    ibv_srq_attr.max_sge(attributes, 4);
                    ibv_srq_attr.srq_limit(attributes, 9);
                });

        assertThat(shared.attributes()).isEqualTo(new SharedReceiveQueueAttributes(31, 4, 9));
    }

    @Test
    void shouldPostToTheSharedQueue() throws Exception {
        var queues = new ArrayList<Object>();
        library.onCall("post_srq_recv", arguments -> queues.add(arguments[0]));
        var receive = prepareReceive();

        for (var i = 0; i < 8; i++) {
            assertThat(receive.tryPost()).isTrue();
        }

        assertThat(receive.tryPost()).as("a ninth receive").isFalse();
        assertThat(queues).hasSize(8).containsOnly(shared.address().address());
    }

    @Test
    void shouldBeDestroyedAfterItsQueuePairs() throws Exception {
        domain.newQueuePair(sharingOptions());
        domain.newQueuePair(sharingOptions());
        assertThat(completions.remainingCapacity()).isEqualTo(64 - 2 * 4 - 8);

        shared.close();

        assertThat(library.calls).endsWith("ibv_destroy_qp", "ibv_destroy_qp", "ibv_destroy_srq");
        assertThat(completions.remainingCapacity()).isEqualTo(64);
    }

    @Test
    void shouldReportFailuresOfTheDevice() {
        library.answer("ibv_create_srq", MemorySegment.NULL, Errno.EINVAL)
                .answer("ibv_modify_srq", Errno.EOPNOTSUPP, 0)
                .answer("ibv_query_srq", Errno.EIO, 0);

        assertFailure(
                () ->
                        domain.newPolledSharedReceiveQueue(
                                SharedReceiveQueueOptions.capacity(1_000).elements(2)),
                Errno.EINVAL,
                "ibv_create_srq failed for 1,000 receives with 2 slices on fake0: EINVAL (22).");
        assertFailure(
                () -> shared.limit(3),
                Errno.EOPNOTSUPP,
                "ibv_modify_srq failed for %s and a limit of 3: EOPNOTSUPP (95)."
                        .formatted(shared));
        assertFailure(
                () -> shared.resize(20),
                Errno.EOPNOTSUPP,
                "ibv_modify_srq failed for %s and 20 receives: EOPNOTSUPP (95).".formatted(shared));
        assertThat(shared.capacity()).isEqualTo(8);
        assertFailure(
                shared::attributes,
                Errno.EIO,
                "ibv_query_srq failed for %s: EIO (5).".formatted(shared));
    }

    @Test
    void shouldReportAnOlderLibrary() throws Exception {
        for (var symbol : List.of("ibv_create_srq", "ibv_destroy_srq")) {
            device.close();
            open(new FakeLibrary().without(symbol));

            assertFailure(
                    () -> domain.newPolledSharedReceiveQueue(8),
                    Errno.EOPNOTSUPP,
                    "ibv_create_srq failed for 8 receives with 1 slices on fake0: EOPNOTSUPP"
                            + " (95).");
            assertThat(library.calls).doesNotContain("ibv_create_srq");
        }
    }

    @Test
    void shouldReleaseTheReservationIfTheQueuePairIsRejected() {
        library.answer("ibv_create_qp", MemorySegment.NULL, Errno.EINVAL);

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> domain.newQueuePair(sharingOptions()));

        assertThat(completions.remainingCapacity()).isEqualTo(64);
    }

    @Test
    void shouldReportARejectedReceiveAndFreeItsSlot() throws Exception {
        library.rejectPosts("post_srq_recv", Errno.ENOMEM);
        var receive = prepareReceive();

        assertThatExceptionOfType(PostException.class)
                .isThrownBy(receive::tryPost)
                .withMessage(
                        "ibv_post_srq_recv failed for a RECEIVE on %s: ENOMEM (12)."
                                .formatted(shared));

        assertThat(shared.freeReceives()).isEqualTo(8);
    }

    @Test
    void shouldKeepTheSlotsOfReceivesThatWerePostedBeforeARejectedOne() throws Exception {
        library.answer("post_srq_recv", Errno.ENOMEM, 0)
                .onCall(
                        "post_srq_recv",
                        arguments -> {
                            var first = copy(arguments[1], ibv_recv_wr.layout().byteSize());
                            FakeLibrary.memory(arguments[2], Long.BYTES)
                                    .set(JAVA_LONG, 0, ibv_recv_wr.next(first).address());
                        });
        var chain = shared.prepareChain(prepareReceive(), prepareReceive(), prepareReceive());

        assertThatExceptionOfType(PostException.class)
                .isThrownBy(chain::tryPost)
                .withMessageContaining("request 2 of 3")
                .satisfies(e -> assertThat(e.failedRequest()).isEqualTo(1));

        assertThat(shared.freeReceives()).isEqualTo(7);
    }

    @Test
    void shouldFreeTheSlotOfARejectedAsyncReceive() throws Exception {
        var asyncQueue =
                domain.newAsyncSharedReceiveQueue(
                        SharedReceiveQueueOptions.capacity(1).slotTimeout(Duration.ZERO));
        var region = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);
        library.rejectPosts("post_srq_recv", Errno.EINVAL);

        for (var i = 0; i < 3; i++) {
            assertThatExceptionOfType(PostException.class)
                    .isThrownBy(() -> asyncQueue.receive(region.slice()))
                    .withMessage(
                            "ibv_post_srq_recv failed on the %s: EINVAL (22)."
                                    .formatted(asyncQueue));
        }
    }

    /** The driver of rxe may report an error of its doorbell after it has queued the request. */
    @Test
    void shouldKeepTheSlotOfAnAsyncReceiveThatTheProviderQueuedDespiteAnError() throws Exception {
        var asyncQueue =
                domain.newAsyncSharedReceiveQueue(
                        SharedReceiveQueueOptions.capacity(1).slotTimeout(Duration.ZERO));
        var region = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);
        library.answer("post_srq_recv", Errno.ENOMEM, 0);

        assertThatExceptionOfType(PostException.class)
                .isThrownBy(() -> asyncQueue.receive(region.slice()));

        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> asyncQueue.receive(region.slice()));
    }

    @Test
    void shouldKeepItsCapacityIfAResizeFails() throws Exception {
        var asyncQueue =
                domain.newAsyncSharedReceiveQueue(
                        SharedReceiveQueueOptions.capacity(2).slotTimeout(Duration.ZERO));
        var region = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);
        library.answer("ibv_modify_srq", Errno.EINVAL, 0);

        for (var capacity : new int[] {1, 5}) {
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> asyncQueue.resize(capacity));
            assertThat(asyncQueue.capacity()).isEqualTo(2);
        }

        asyncQueue.receive(region.slice());
        asyncQueue.receive(region.slice());
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> asyncQueue.receive(region.slice()));
    }

    @Test
    void shouldFailAsyncReceivesWhenADispatcherFails() throws Exception {
        var asyncQueue =
                domain.newAsyncSharedReceiveQueue(
                        SharedReceiveQueueOptions.capacity(2).slotTimeout(Duration.ZERO));
        var region = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);
        var dispatcher = device.newCompletionDispatcher(16);
        var queuePair =
                domain.newQueuePair(
                        QueuePairOptions.reliable(dispatcher).sends(1).sharedReceives(asyncQueue));
        queuePair.connect(queuePair.endpoint());
        var transfer = asyncQueue.receive(region.slice());

        library.answer("poll_cq", -1, 0);
        queuePair.write(region.slice(), region.remote()); // This raises an event.

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> transfer.await(Duration.ofSeconds(10)))
                .isNotInstanceOf(FabricTimeoutException.class);
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> asyncQueue.receive(region.slice()))
                .withMessageContaining("The completion dispatcher has stopped");
    }
}
