package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jrdma.abi.rdma.ibv_context;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.PostException;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the exceptions for each error convention of libibverbs. */
@Timeout(30)
class ErrorConventionsTest {

    private FakeLibrary library;
    private Device device;

    @BeforeEach
    void open() throws Exception {
        library = new FakeLibrary();
        device = Verbs.from(library).open(FakeLibrary.DEVICE);
    }

    @AfterEach
    void close() {
        device.close();
    }

    private static void assertFailure(
            ThrowingCallable attempt, String function, int errno, String message) {
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(attempt)
                .withMessage(message)
                .satisfies(e -> assertThat(e.function()).isEqualTo(function))
                .satisfies(e -> assertThat(e.code()).isEqualTo(errno));
    }

    @Nested
    class NullAndErrno {

        @Test
        void shouldBeReportedForAProtectionDomain() {
            library.answer("ibv_alloc_pd", MemorySegment.NULL, Errno.ENOSPC);

            assertFailure(
                    device::newProtectionDomain,
                    "ibv_alloc_pd",
                    Errno.ENOSPC,
                    "ibv_alloc_pd failed on fake0: ENOSPC (28).");
        }

        @Test
        void shouldBeReportedForMemoryWithItsLengthAndAccess() throws Exception {
            library.answer("ibv_reg_mr", MemorySegment.NULL, Errno.EINVAL);
            var domain = device.newProtectionDomain();

            assertFailure(
                    () -> domain.register(ByteBuffer.allocateDirect(4096), Access.REMOTE_WRITE),
                    "ibv_reg_mr",
                    Errno.EINVAL,
                    "ibv_reg_mr failed for 4,096 bytes (REMOTE_WRITE) on fake0: EINVAL (22). REMOTE_WRITE and REMOTE_ATOMIC require LOCAL_WRITE.");
        }

        @Test
        void shouldBeReportedForACompletionQueueWhoseChannelIsThenClosed() {
            library.answer("ibv_create_cq", MemorySegment.NULL, Errno.EINVAL);

            assertFailure(
                    () ->
                            device.newCompletionQueue(
                                    CompletionQueueOptions.capacity(1000).waitable()),
                    "ibv_create_cq",
                    Errno.EINVAL,
                    "ibv_create_cq failed for 1,000 completions on vector 0 of fake0: EINVAL (22).");

            assertThat(library.calls).endsWith("ibv_destroy_comp_channel");
        }

        @Test
        void shouldBeReportedForACompletionChannel() {
            library.answer("ibv_create_comp_channel", MemorySegment.NULL, Errno.EMFILE);

            assertFailure(
                    () -> device.newCompletionDispatcher(16),
                    "ibv_create_comp_channel",
                    Errno.EMFILE,
                    "ibv_create_comp_channel failed on fake0: EMFILE (24).");
        }

        @Test
        void shouldBeReportedForAQueuePairWhoseReservationIsThenReleased() throws Exception {
            library.answer("ibv_create_qp", MemorySegment.NULL, Errno.EINVAL);
            var domain = device.newProtectionDomain();
            var queue = device.newCompletionQueue(64);

            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> domain.newReliableQueuePair(queue))
                    .withMessageStartingWith("ibv_create_qp failed for ")
                    .withMessageEndingWith(" on fake0: EINVAL (22).");

            assertThat(queue.remainingCapacity()).isEqualTo(64);
        }
    }

    @Nested
    class MinusOneAndErrno {

        @Test
        void shouldBeReportedForAPartitionKey() {
            library.answer("ibv_query_pkey", -1, Errno.EIO);

            assertFailure(
                    () -> device.partitionKeys(1),
                    "ibv_query_pkey",
                    Errno.EIO,
                    "ibv_query_pkey failed for port 1 of fake0: EIO (5).");
        }

        @Test
        void shouldBeReportedForAnAsynchronousEvent() {
            library.answer("ibv_get_async_event", -1, Errno.EIO);

            assertFailure(
                    () -> device.nextEvent(Duration.ZERO),
                    "ibv_get_async_event",
                    Errno.EIO,
                    "ibv_get_async_event failed for fake0: EIO (5).");
        }

        @Test
        void shouldBeReportedForOneGidOfAnOldLibrary() throws Exception {
            device.close();
            library = new FakeLibrary().without("_ibv_query_gid_table");
            library.answer("ibv_query_gid", -1, Errno.ENODATA);
            device = Verbs.from(library).open(FakeLibrary.DEVICE);

            assertFailure(
                    () -> device.gids(1),
                    "ibv_query_gid",
                    Errno.ENODATA,
                    "ibv_query_gid failed for port 1 of fake0: ENODATA (61).");
        }
    }

    @Nested
    class ErrnoAsTheResult {

        @Test
        void shouldBeReportedRegardlessOfErrno() {
            library.answer("ibv_query_device", Errno.EIO, Errno.EPERM);

            assertFailure(
                    device::attributes,
                    "ibv_query_device",
                    Errno.EIO,
                    "ibv_query_device failed for fake0: EIO (5).");
        }

        @Test
        void shouldBeTakenFromErrnoIfAProviderReturnsMinusOne() {
            library.answer("ibv_query_port", -1, Errno.ENODEV);

            assertFailure(
                    () -> device.port(1),
                    "ibv_query_port",
                    Errno.ENODEV,
                    "ibv_query_port failed for port 1 of fake0: ENODEV (19).");
        }

        @Test
        void shouldBeReportedForAResize() throws Exception {
            library.answer("ibv_resize_cq", Errno.EOPNOTSUPP, 0);
            var queue = device.newCompletionQueue(16);

            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> queue.resize(32))
                    .withMessageMatching(
                            "ibv_resize_cq failed for 32 completions of completion queue [0-9a-f]+ of fake0: EOPNOTSUPP \\(95\\)\\.");
            assertThat(queue.capacity()).isEqualTo(16);
        }

        @Test
        void shouldBeReportedForATransitionWithBothStatesAndTheAttributes() throws Exception {
            library.answer("ibv_modify_qp", Errno.EINVAL, 0);
            var queuePair =
                    device.newProtectionDomain()
                            .newQueuePair(QueuePairOptions.reliable(device.newCompletionQueue(64)));

            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> queuePair.connect(queuePair.endpoint()))
                    .withMessageStartingWith(
                            "ibv_modify_qp failed for queue pair 0x001234 of fake0 from RESET to INIT with {")
                    .withMessageContaining("PORT=1")
                    .withMessageEndingWith("EINVAL (22).");
            assertThat(queuePair.state()).isEqualTo(QueuePairState.RESET);
        }

        @Test
        void shouldReportTheActualStateIfTheDeviceRejectsATransition() throws Exception {
            var queuePair =
                    device.newProtectionDomain()
                            .newQueuePair(QueuePairOptions.reliable(device.newCompletionQueue(64)));
            queuePair.connect(queuePair.endpoint());
            library.queuePairState(rdma_h.IBV_QPS_ERR()).answer("ibv_modify_qp", Errno.EINVAL, 0);

            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() ->
                            queuePair.modify(QueuePairChange.to(QueuePairState.SEND_QUEUE_DRAINED)))
                    .withMessageContaining("from READY_TO_SEND to SEND_QUEUE_DRAINED")
                    .withMessageEndingWith(
                            "EINVAL (22). The queue pair is in state ERROR, not READY_TO_SEND.");

            assertThat(queuePair.state()).isEqualTo(QueuePairState.ERROR);
        }

        @Test
        void shouldBeReportedByAPost() throws Exception {
            library.rejectPosts("post_send", Errno.ENOMEM);
            var domain = device.newProtectionDomain();
            var memory = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);
            var queuePair =
                    domain.newQueuePair(
                            QueuePairOptions.reliable(device.newCompletionDispatcher(64)).sends(1));
            queuePair.connect(queuePair.endpoint());

            for (var i = 0; i < 3; i++) { // Each failure frees the slot.
                assertThatExceptionOfType(PostException.class)
                        .isThrownBy(() -> queuePair.send(memory.slice()))
                        .withMessage(
                                "ibv_post_send failed on the send queue of queue pair 0x001234 of fake0: ENOMEM (12).");
            }
        }
    }

    @Test
    void shouldReportAPostThatReturnsMinusOne() throws Exception {
        library.answer("post_send", -1, 0); // This result violates the error convention.
        var domain = device.newProtectionDomain();
        var memory = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);
        var queuePair =
                domain.newQueuePair(
                        QueuePairOptions.reliable(device.newCompletionQueue(64)).sends(1));
        queuePair.connect(queuePair.endpoint());

        assertThatExceptionOfType(PostException.class)
                .isThrownBy(() -> queuePair.prepareSend(memory.slice()).tryPost());
    }

    @Nested
    class NegativeErrno {

        @Test
        void shouldBeReportedForTheGidTable() {
            library.answer("_ibv_query_gid_table", (long) -Errno.EIO, 0);

            assertFailure(
                    () -> device.gids(1),
                    "ibv_query_gid_table",
                    Errno.EIO,
                    "ibv_query_gid_table failed for port 1 of fake0: EIO (5).");
        }
    }

    @Nested
    class ContextFunction {

        private static final String UNSUPPORTED =
                "ibv_query_device_ex failed for fake0: EOPNOTSUPP (95).";

        private void install() {
            verbs_context.query_device_ex(
                    library.extendedContext(),
                    library.stub("query_device_ex", verbs_context.query_device_ex.descriptor()));
        }

        private Device openAgain() throws Exception {
            return Verbs.from(library).open(FakeLibrary.DEVICE);
        }

        @Test
        void shouldBeCalledIfTheLibraryAndTheProviderSupportIt() throws Exception {
            install();

            try (var opened = openAgain()) {
                assertThat(opened.extendedAttributes()).isNotNull();
            }
            assertThat(library.calls).contains("query_device_ex");
        }

        @Test
        void shouldBeUnsupportedIfTheProviderLacksIt() {
            assertFailure(
                    device::extendedAttributes,
                    "ibv_query_device_ex",
                    Errno.EOPNOTSUPP,
                    UNSUPPORTED);
        }

        @Test
        void shouldBeUnsupportedIfTheStructureIsTooShort() throws Exception {
            install();
            var needed = verbs_context.layout().byteSize() - verbs_context.query_device_ex$offset();
            verbs_context.sz(library.extendedContext(), needed - 1);
            try (var opened = openAgain()) {
                assertFailure(
                        opened::extendedAttributes,
                        "ibv_query_device_ex",
                        Errno.EOPNOTSUPP,
                        UNSUPPORTED);
            }
            assertThat(library.calls).doesNotContain("query_device_ex");

            verbs_context.sz(library.extendedContext(), needed);
            try (var opened = openAgain()) {
                assertThat(opened.extendedAttributes()).isNotNull();
            }
        }

        @Test
        void shouldBeUnsupportedIfTheContextIsNotExtended() throws Exception {
            install();
            ibv_context.abi_compat(library.context(), MemorySegment.NULL);

            try (var opened = openAgain()) {
                assertFailure(
                        opened::extendedAttributes,
                        "ibv_query_device_ex",
                        Errno.EOPNOTSUPP,
                        UNSUPPORTED);
            }
        }
    }

    @Nested
    class Closing {

        /** A device cannot be closed while it has a completion channel. */
        @Test
        void shouldDestroyTheChannelOfAQueueThatIsCreatedDuringClose() throws Exception {
            var closer = new Thread(device::close);
            library.onCall(
                    "ibv_create_comp_channel",
                    _ -> {
                        closer.start();
                        while (device.isOpen()) {
                            Thread.onSpinWait();
                        }
                    });

            assertThatIllegalStateException()
                    .isThrownBy(() ->
                            device.newCompletionQueue(
                                    CompletionQueueOptions.capacity(64).waitable()));
            closer.join();

            assertThat(library.calls)
                    .containsSubsequence(
                            "ibv_create_comp_channel",
                            "ibv_destroy_comp_channel",
                            "ibv_close_device");
        }

        @Test
        void shouldDestroyNewestFirst() throws Exception {
            var domain = device.newProtectionDomain();
            var queue = device.newCompletionQueue(CompletionQueueOptions.capacity(64).waitable());
            var memory = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);
            var queuePair = domain.newReliableQueuePair(queue);
            library.calls.clear();

            device.close();

            assertThat(library.calls)
                    .filteredOn(call -> !call.startsWith("ibv_ack"))
                    .containsExactly(
                            "ibv_destroy_qp",
                            "ibv_destroy_cq",
                            "ibv_destroy_comp_channel",
                            "ibv_dereg_mr",
                            "ibv_dealloc_pd",
                            "ibv_close_device");
            assertThat(memory.isOpen()).isFalse();
            assertThatIllegalStateException()
                    .isThrownBy(queuePair::query)
                    .withMessage("queue pair 0x001234 of fake0 is closed");
        }

        @Test
        void shouldContinueClosingAfterAFailure() throws Exception {
            library.answer("ibv_dealloc_pd", Errno.EBUSY, 0);
            library.answer("ibv_close_device", -1, Errno.EIO);
            var domain = device.newProtectionDomain();

            device.close();

            assertThat(domain.isOpen()).isFalse();
            assertThat(library.calls).endsWith("ibv_dealloc_pd", "ibv_close_device");
        }
    }

    /** The results of {@code ibv_rereg_mr} indicate whether the region is still valid. */
    @Nested
    class Reregistration {

        private MemoryRegion region;

        @BeforeEach
        void register() throws Exception {
            region = device.newProtectionDomain().newArena(Access.LOCAL_WRITE).region(4096);
        }

        @ParameterizedTest
        @ValueSource(ints = {-1, -2})
        void shouldKeepARegionOpenThatWasNotChanged(int result) {
            library.answer("ibv_rereg_mr", result, Errno.EINVAL);

            assertFailure(
                    () -> region.reregister(Access.REMOTE_READ),
                    "ibv_rereg_mr",
                    Errno.EINVAL,
                    "ibv_rereg_mr failed for 4,096 bytes (REMOTE_READ) on fake0: EINVAL (22).");

            assertThat(region.isOpen()).isTrue();
        }

        @Test
        void shouldKeepARegionOpenIfTheProviderCannotChangeIt() {
            library.answer("ibv_rereg_mr", -4, Errno.EOPNOTSUPP);

            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> region.reregister(Access.REMOTE_READ));

            assertThat(region.isOpen()).isTrue();
        }

        @ParameterizedTest
        @ValueSource(ints = {-4, -5})
        void shouldCloseARegionThatBecameInvalid(int result) {
            library.answer("ibv_rereg_mr", result, Errno.ENOMEM);

            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> region.reregister(Access.REMOTE_READ));

            assertThat(region.isOpen()).isFalse();
            assertThat(library.calls).endsWith("ibv_rereg_mr", "ibv_dereg_mr");
        }

        @Test
        void shouldAcceptAChangeIfOnlyTheForkProtectionFailed() throws Exception {
            library.answer("ibv_rereg_mr", -3, Errno.EINVAL);

            try (var changed = region.reregister(Access.REMOTE_READ)) {
                assertThat(changed.access()).containsExactly(Access.REMOTE_READ);
                assertThat(region.isOpen()).isFalse();
                assertThat(library.calls).doesNotContain("ibv_dereg_mr");
            }
            assertThat(library.calls).endsWith("ibv_dereg_mr");
        }

        @Test
        void shouldPassOnlyTheRequestedChangeToTheLibrary() throws Exception {
            var recorded = new ArrayList<List<Object>>();
            library.onCall(
                    "ibv_rereg_mr", arguments -> recorded.add(List.of(arguments).subList(1, 6)));
            var next = device.newProtectionDomain();
            try (var arena = Arena.ofShared()) {
                var memory = arena.allocate(512);

                var first = region.reregister(Access.LOCAL_WRITE, Access.REMOTE_WRITE);
                var second = next.reregister(first);
                second.reregisterUnguarded(memory).close();

                assertThat(recorded)
                        .containsExactly(
                                List.of(4, MemorySegment.NULL, MemorySegment.NULL, 0L, 1 | 2),
                                List.of(2, next.address(), MemorySegment.NULL, 0L, 0),
                                List.of(
                                        1,
                                        MemorySegment.NULL,
                                        MemorySegment.ofAddress(memory.address()),
                                        512L,
                                        0));
            }
        }

        @Test
        void shouldRejectASecondChangeThroughAnOldReference() throws Exception {
            var changed = region.reregister(Access.REMOTE_READ);

            assertThatIllegalStateException()
                    .isThrownBy(() -> region.reregister(Access.REMOTE_READ))
                    .withMessageContaining("closed");
            assertThat(changed.isOpen()).isTrue();
        }

        @Test
        void shouldReportALibraryWithoutReregistration() throws Exception {
            var older = Verbs.from(new FakeLibrary().without("ibv_rereg_mr"));
            try (var olderDevice = older.open(FakeLibrary.DEVICE)) {
                var memory =
                        olderDevice.newProtectionDomain().newArena(Access.LOCAL_WRITE).region(64);

                assertFailure(
                        () -> memory.reregister(Access.REMOTE_READ),
                        "ibv_rereg_mr",
                        Errno.EOPNOTSUPP,
                        "ibv_rereg_mr failed for 64 bytes (REMOTE_READ) on fake0: EOPNOTSUPP (95). The device does not support one of these rights. Its extended attributes show whether it supports on-demand paging.");
                assertThat(memory.isOpen()).isTrue();
            }
        }
    }
}
