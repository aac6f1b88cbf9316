package org.jrdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jrdma.abi.rdma.ibv_ah_attr;
import org.jrdma.abi.rdma.ibv_global_route;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.ibv_qp_init_attr;
import org.jrdma.abi.rdma.ibv_send_wr;
import org.jrdma.abi.rdma.ibv_wc;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.DatagramSource;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.PostException;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.StaticRate;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the calls of libibverbs for datagrams and unreliable connections, and their failures. */
class DatagramsTest {

    private static final int QUEUE_KEY = 0x1111_1111;
    private static final Gid PEER = new Gid(0, 0xffff_0a4d_0002L);
    private static final Gid GROUP = new Gid(0, 0xffff_ef01_0203L);
    private static final Completion RECEIVED =
            new Completion(
                    CompletionStatus.SUCCESS,
                    CompletionKind.RECEIVE,
                    48,
                    OptionalInt.empty(),
                    OptionalInt.empty(),
                    Optional.of(new DatagramSource(0x4321, true, 0xabcd, 3, 5)),
                    false,
                    FakeLibrary.NUMBER,
                    0);

    private final FakeLibrary library = new FakeLibrary();
    private Device device;
    private ProtectionDomain domain;
    private PolledDatagramQueuePair queuePair;

    @BeforeEach
    void open() throws Exception {
        device = Verbs.from(library).openFirst();
        domain = device.newProtectionDomain();
        queuePair =
                domain.newQueuePair(
                        QueuePairOptions.datagrams(device.newCompletionQueue(64))
                                .sends(4)
                                .receives(4));
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

    @Test
    void shouldCreateAQueuePairOfTheRequestedType() throws Exception {
        var types = new ArrayList<Integer>();
        library.onCall(
                "ibv_create_qp",
                arguments ->
                        types.add(
                                ibv_qp_init_attr.qp_type(
                                        copy(arguments[1], ibv_qp_init_attr.layout().byteSize()))));
        var queue = device.newCompletionQueue(64);

        domain.newQueuePair(QueuePairOptions.reliable(queue).sends(1).receives(1));
        domain.newQueuePair(QueuePairOptions.unreliable(queue).sends(1).receives(1));
        domain.newQueuePair(QueuePairOptions.datagrams(queue).sends(1).receives(1));

        assertThat(types)
                .containsExactly(rdma_h.IBV_QPT_RC(), rdma_h.IBV_QPT_UC(), rdma_h.IBV_QPT_UD());
    }

    @Test
    void shouldActivateWithAQueueKeyAndWithoutAPeer() throws Exception {
        var masks = new ArrayList<Integer>();
        var keys = new ArrayList<Integer>();
        library.onCall(
                "ibv_modify_qp",
                arguments -> {
                    masks.add((int) arguments[2]);
                    keys.add(ibv_qp_attr.qkey(copy(arguments[1], ibv_qp_attr.layout().byteSize())));
                });

        queuePair.activate(QUEUE_KEY);

        assertThat(masks)
                .containsExactly(
                        rdma_h.IBV_QP_STATE()
                                | rdma_h.IBV_QP_PKEY_INDEX()
                                | rdma_h.IBV_QP_PORT()
                                | rdma_h.IBV_QP_QKEY(),
                        rdma_h.IBV_QP_STATE(),
                        rdma_h.IBV_QP_STATE() | rdma_h.IBV_QP_SQ_PSN());
        assertThat(keys.getFirst()).isEqualTo(QUEUE_KEY);
        assertThat(queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void shouldConnectUnreliablyWithoutReliabilityAttributes() throws Exception {
        var unreliable =
                domain.newQueuePair(
                        QueuePairOptions.unreliable(device.newCompletionQueue(8))
                                .sends(1)
                                .receives(1));
        var masks = new ArrayList<Integer>();
        var rights = new ArrayList<Integer>();
        library.onCall(
                "ibv_modify_qp",
                arguments -> {
                    masks.add((int) arguments[2]);
                    rights.add(
                            ibv_qp_attr.qp_access_flags(
                                    copy(arguments[1], ibv_qp_attr.layout().byteSize())));
                });

        unreliable.connect(unreliable.endpoint());

        assertThat(masks)
                .containsExactly(
                        rdma_h.IBV_QP_STATE()
                                | rdma_h.IBV_QP_PKEY_INDEX()
                                | rdma_h.IBV_QP_PORT()
                                | rdma_h.IBV_QP_ACCESS_FLAGS(),
                        rdma_h.IBV_QP_STATE()
                                | rdma_h.IBV_QP_AV()
                                | rdma_h.IBV_QP_PATH_MTU()
                                | rdma_h.IBV_QP_DEST_QPN()
                                | rdma_h.IBV_QP_RQ_PSN(),
                        rdma_h.IBV_QP_STATE() | rdma_h.IBV_QP_SQ_PSN());
        assertThat(rights.getFirst())
                .isEqualTo(rdma_h.IBV_ACCESS_LOCAL_WRITE() | rdma_h.IBV_ACCESS_REMOTE_WRITE());
    }

    @Test
    void shouldCreateAnAddressHandleFromAnAddressVector() throws Exception {
        var recorded = new ArrayList<MemorySegment>();
        library.onCall(
                "ibv_create_ah",
                arguments -> recorded.add(copy(arguments[1], ibv_ah_attr.layout().byteSize())));

        var vector = queuePair.addressOf(new Endpoint(0, 1, 2, PEER)).withServiceLevel(6);
        var handle = domain.newAddressHandle(vector);

        assertThat(handle.vector()).isEqualTo(vector);
        var attributes = recorded.getFirst();
        assertThat(ibv_ah_attr.port_num(attributes)).isEqualTo((byte) 1);
        assertThat(ibv_ah_attr.sl(attributes)).isEqualTo((byte) 6);
        assertThat(ibv_ah_attr.is_global(attributes)).isEqualTo((byte) 1);
        var route = ibv_ah_attr.grh(attributes);
        assertThat(ibv_global_route.hop_limit(route)).isEqualTo((byte) 64);
        assertThat(ibv_global_route.dgid(route).toArray(JAVA_BYTE))
                .containsExactly(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 77, 0, 2);
    }

    @Test
    void shouldReportAnAddressHandleThatCannotBeCreated() throws Exception {
        library.answer("ibv_create_ah", MemorySegment.NULL, Errno.ETIMEDOUT);
        var vector = queuePair.addressOf(PEER, 0);

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> domain.newAddressHandle(vector))
                .withMessageStartingWith("ibv_create_ah failed for AddressVector[port=1")
                .withMessageEndingWith(
                        "ETIMEDOUT (110). The peer's address could not be resolved on the network.");
    }

    @Test
    void shouldDestroyAnAddressHandleOnceAndBeforeItsDomain() throws Exception {
        var handle = domain.newAddressHandle(queuePair.addressOf(PEER, 0));
        var openHandle = domain.newAddressHandle(queuePair.addressOf(PEER, 0));

        handle.close();
        handle.close();
        assertThat(library.calls).containsOnlyOnce("ibv_destroy_ah");
        domain.close();

        assertThat(library.calls.stream().filter("ibv_destroy_ah"::equals)).hasSize(2);
        assertThat(library.calls.lastIndexOf("ibv_destroy_ah"))
                .isLessThan(library.calls.indexOf("ibv_dealloc_pd"));
        assertThat(openHandle.isOpen()).isFalse();
        assertThatIllegalStateException().isThrownBy(openHandle::address);
    }

    @Test
    void shouldCloseAnAddressHandleEvenIfTheLibraryFails() throws Exception {
        library.answer("ibv_destroy_ah", Errno.EBUSY, 0);
        var handle = domain.newAddressHandle(queuePair.addressOf(PEER, 0));

        handle.close();

        assertThat(handle.isOpen()).isFalse();
    }

    @Test
    void shouldPostTheDestination() throws Exception {
        queuePair.activate(QUEUE_KEY);
        var memory = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);
        var first = domain.newAddressHandle(queuePair.addressOf(PEER, 0));
        var second = domain.newAddressHandle(queuePair.addressOf(PEER, 0));
        var recorded = new ArrayList<List<Object>>();
        library.onCall(
                "post_send",
                arguments -> {
                    var request = copy(arguments[1], ibv_send_wr.layout().byteSize());
                    var datagram = ibv_send_wr.wr.ud(ibv_send_wr.wr(request));
                    recorded.add(
                            List.of(
                                    ibv_send_wr.wr.ud.ah(datagram).address(),
                                    ibv_send_wr.wr.ud.remote_qpn(datagram),
                                    ibv_send_wr.wr.ud.remote_qkey(datagram),
                                    ibv_send_wr.opcode(request)));
                });

        var send = queuePair.prepareSend(memory.slice(), new Destination(first, 7, 8));
        assertThat(send.tryPost()).isTrue();
        assertThat(send.to(new Destination(second, 9, 10)).immediate(11).tryPost()).isTrue();

        assertThat(recorded)
                .containsExactly(
                        List.of(first.address().address(), 7, 8, rdma_h.IBV_WR_SEND()),
                        List.of(second.address().address(), 9, 10, rdma_h.IBV_WR_SEND_WITH_IMM()));
    }

    @Test
    void shouldNotPostToAClosedAddressHandle() throws Exception {
        queuePair.activate(QUEUE_KEY);
        var memory = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);
        var handle = domain.newAddressHandle(queuePair.addressOf(PEER, 0));
        var send = queuePair.prepareSend(memory.slice(), new Destination(handle, 7, 8));
        send.local(memory.slice()); // The address handle is still valid.

        handle.close();

        assertThatIllegalStateException()
                .isThrownBy(send::tryPost)
                .withMessageContaining("address handle");
        assertThat(library.calls).doesNotContain("post_send");
        assertThat(queuePair.freeSends()).isEqualTo(4);
    }

    @Test
    void shouldNotPostAChainWithAClosedAddressHandle() throws Exception {
        queuePair.activate(QUEUE_KEY);
        var memory = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);
        var open = domain.newAddressHandle(queuePair.addressOf(PEER, 0));
        var closed = domain.newAddressHandle(queuePair.addressOf(PEER, 0));
        var chain =
                queuePair.prepareChain(
                        queuePair.prepareSend(memory.slice(), new Destination(open, 7, 8)),
                        queuePair.prepareSend(memory.slice(), new Destination(closed, 7, 8)));

        closed.close();

        assertThatIllegalStateException().isThrownBy(chain::tryPost);
        assertThat(library.calls).doesNotContain("post_send");
    }

    private PolledDatagramQueuePair newActivePair(CompletionQueue queue) throws Exception {
        var pair = domain.newQueuePair(QueuePairOptions.datagrams(queue).sends(4).receives(4));
        pair.activate(QUEUE_KEY);
        return pair;
    }

    private PreparedDatagram prepareSend(PolledDatagramQueuePair from, AddressHandle handle)
            throws Exception {
        var memory = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);
        return from.prepareSend(memory.slice(), new Destination(handle, 7, 8));
    }

    /**
     * A provider reads the address handle of every request, even of a request that it will flush.
     * Therefore, the marker of a drain has an address handle of its own.
     */
    @Test
    void shouldDrainWithAMarkerThatHasAnAddressHandle() throws Exception {
        var queue = device.newCompletionQueue(64);
        var drained = newActivePair(queue);
        var handle = domain.newAddressHandle(drained.addressOf(PEER, 0));
        var handles = new ArrayList<Long>();
        library.onCall(
                "post_send",
                arguments -> {
                    var request = copy(arguments[1], ibv_send_wr.layout().byteSize());
                    var datagram = ibv_send_wr.wr.ud(ibv_send_wr.wr(request));
                    handles.add(ibv_send_wr.wr.ud.ah(datagram).address());
                });
        prepareSend(drained, handle).tryPost();
        handle.close();

        try (var cursor = queue.newCursor(1)) {
            drained.drain(cursor, Duration.ofSeconds(10), _ -> {});
        }
        assertThat(handles).hasSize(2).doesNotContain(0L).doesNotHaveDuplicates();
        assertThat(library.calls).containsOnlyOnce("ibv_destroy_ah");

        drained.close();
        assertThat(library.calls.lastIndexOf("ibv_destroy_ah"))
                .isLessThan(library.calls.indexOf("ibv_destroy_qp"));
        assertThat(library.calls.stream().filter("ibv_destroy_ah"::equals)).hasSize(2);
    }

    /** The driver of rxe may report an error of its doorbell after it has queued the marker. */
    @Test
    void shouldDrainWithAMarkerThatTheProviderQueuedDespiteAnError() throws Exception {
        var queue = device.newCompletionQueue(64);
        var drained = newActivePair(queue);
        var handle = domain.newAddressHandle(drained.addressOf(PEER, 0));
        var send = prepareSend(drained, handle).id(5);
        send.tryPost();
        library.failLate("post_send", Errno.ENOMEM);

        var drainedIds = new ArrayList<Long>();
        try (var cursor = queue.newCursor(1)) {
            drained.drain(cursor, Duration.ofSeconds(10), it -> drainedIds.add(it.id()));
        }

        assertThat(drainedIds).containsExactly(5L);
        assertThat(library.calls.stream().filter("post_send"::equals)).hasSize(2);
    }

    @Test
    void shouldReportAMarkerThatTheProviderRejected() throws Exception {
        var queue = device.newCompletionQueue(64);
        var drained = newActivePair(queue);
        var handle = domain.newAddressHandle(drained.addressOf(PEER, 0));
        prepareSend(drained, handle).tryPost();
        library.rejectPosts("post_send", Errno.ENOMEM);

        try (var cursor = queue.newCursor(1)) {
            assertThatExceptionOfType(PostException.class)
                    .isThrownBy(() -> drained.drain(cursor, Duration.ofSeconds(10), _ -> {}))
                    .withMessageContaining("for the marker that drains " + drained);
            library.resetAnswer("post_send");
            drained.drain(cursor, Duration.ofSeconds(10), _ -> {});
        }
    }

    @Test
    void shouldRejectADatagramThatExceedsTheMtu() throws Exception {
        var memory = domain.register(ByteBuffer.allocateDirect(2048), Access.LOCAL_WRITE);
        var to = new Destination(domain.newAddressHandle(queuePair.addressOf(PEER, 0)), 7, 8);

        assertThat(queuePair.maxMessageBytes()).isEqualTo(1024);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> queuePair.prepareSend(memory.slice(0, 1025), to))
                .withMessage(
                        "A datagram from port 1 of fake0 can have at most 1,024 bytes, the MTU of the port, but has 1,025");
    }

    @Test
    void shouldRejectAnInvalidQueuePairNumber() throws Exception {
        var handle = domain.newAddressHandle(queuePair.addressOf(PEER, 0));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Destination(handle, 0x100_0000, 0));
        assertThat(new Destination(handle, Destination.MULTICAST, -1).queueKey()).isEqualTo(-1);
    }

    @Test
    void shouldDeriveTheReplyAddressFromACompletion() throws Exception {
        var memory = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);
        var completions = new ArrayList<MemorySegment>();
        var headers = new ArrayList<Long>();
        library.onCall(
                "ibv_init_ah_from_wc",
                arguments -> {
                    completions.add(copy(arguments[2], ibv_wc.layout().byteSize()));
                    headers.add(((MemorySegment) arguments[3]).address());
                    var attributes =
                            FakeLibrary.memory(arguments[4], ibv_ah_attr.layout().byteSize());
                    ibv_ah_attr.port_num(attributes, (byte) arguments[1]);
                    ibv_ah_attr.dlid(attributes, (short) 0xabcd);
                });

        var replyAddress = queuePair.addressOf(RECEIVED, memory.slice(16, 48));

        assertThat(replyAddress)
                .isEqualTo(
                        new AddressVector(1, 0xabcd, 0, 0, StaticRate.UNLIMITED, Optional.empty()));
        var completion = completions.getFirst();
        assertThat(ibv_wc.src_qp(completion)).isEqualTo(0x4321);
        assertThat(ibv_wc.slid(completion)).isEqualTo((short) 0xabcd);
        assertThat(ibv_wc.sl(completion)).isEqualTo((byte) 3);
        assertThat(ibv_wc.dlid_path_bits(completion)).isEqualTo((byte) 5);
        assertThat(ibv_wc.wc_flags(completion)).isEqualTo(rdma_h.IBV_WC_GRH());
        assertThat(headers).containsExactly(memory.segment().address() + 16);
    }

    @Test
    void shouldReportAReplyAddressThatCannotBeDerived() throws Exception {
        var memory = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);
        library.answer("ibv_init_ah_from_wc", -1, Errno.EPROTONOSUPPORT);

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> queuePair.addressOf(RECEIVED, memory.slice()))
                .withMessageStartingWith("ibv_init_ah_from_wc failed for DatagramSource[")
                .withMessageContaining("(93)");
        memory.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> queuePair.addressOf(RECEIVED, memory.slice()));
    }

    @Test
    void shouldDetachMulticastGroupsBeforeTheQueuePairIsDestroyed() throws Exception {
        var recorded = new ArrayList<byte[]>();
        library.onCall(
                "ibv_attach_mcast",
                arguments -> recorded.add(copy(arguments[1], Gid.BYTES).toArray(JAVA_BYTE)));
        var otherGroup = new Gid(0xff15_0000_0000_0000L, 0x77);

        queuePair.attachMulticast(GROUP, 0);
        queuePair.attachMulticast(otherGroup, 0xc001);
        queuePair.attachMulticast(otherGroup, 0xc001);
        queuePair.detachMulticast(GROUP, 0);
        assertThat(library.calls).containsOnlyOnce("ibv_detach_mcast");
        queuePair.close();

        assertThat(recorded.getFirst())
                .containsExactly(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xef, 1, 2, 3);
        assertThat(library.calls.stream().filter("ibv_detach_mcast"::equals)).hasSize(2);
        assertThat(library.calls.lastIndexOf("ibv_detach_mcast"))
                .isLessThan(library.calls.indexOf("ibv_destroy_qp"));
        assertThatIllegalStateException().isThrownBy(() -> queuePair.attachMulticast(GROUP, 0));
        assertThatIllegalStateException().isThrownBy(() -> queuePair.detachMulticast(GROUP, 0));
    }

    @Test
    void shouldNotDetachAGroupThatItFailedToAttach() {
        library.answer("ibv_attach_mcast", Errno.ENOMEM, 0);
        library.answer("ibv_detach_mcast", Errno.EINVAL, 0);

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> queuePair.attachMulticast(GROUP, 0))
                .withMessageStartingWith("ibv_attach_mcast failed for queue pair")
                .withMessageContaining("group ::ffff:239.1.2.3: ENOMEM (12).");
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> queuePair.detachMulticast(GROUP, 0))
                .withMessageStartingWith("ibv_detach_mcast failed");
        library.calls.clear();
        queuePair.close();
        assertThat(library.calls).doesNotContain("ibv_detach_mcast");
    }

    @Test
    void shouldDestroyAQueuePairThatFailsToDetachAGroup() throws Exception {
        queuePair.attachMulticast(GROUP, 0);
        library.answer("ibv_detach_mcast", Errno.EINVAL, 0);

        queuePair.close();

        assertThat(library.calls).contains("ibv_destroy_qp");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ibv_create_ah", "ibv_destroy_ah"})
    void shouldNotCreateAnAddressHandleThatTheLibraryCannotDestroy(String missing)
            throws Exception {
        try (var olderDevice = Verbs.from(new FakeLibrary().without(missing)).openFirst()) {
            var vector = queuePair.addressOf(PEER, 0);

            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> olderDevice.newProtectionDomain().newAddressHandle(vector))
                    .withMessageContaining("EOPNOTSUPP");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ibv_attach_mcast", "ibv_detach_mcast", "ibv_init_ah_from_wc"})
    void shouldReportFunctionsThatALibraryLacks(String missing) throws Exception {
        try (var olderDevice = Verbs.from(new FakeLibrary().without(missing)).openFirst()) {
            var domain = olderDevice.newProtectionDomain();
            var datagrams =
                    domain.newQueuePair(
                            QueuePairOptions.datagrams(olderDevice.newCompletionQueue(8)));
            var memory = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);

            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> {
                        if (missing.equals("ibv_init_ah_from_wc")) {
                            datagrams.addressOf(RECEIVED, memory.slice());
                        } else {
                            datagrams.attachMulticast(GROUP, 0);
                        }
                    })
                    .withMessageContaining("EOPNOTSUPP");
        }
    }

    @Test
    void shouldAddressPeersByLidAndGroupsByGidInASubnet() throws Exception {
        var subnet = new FakeLibrary().linkLayer(rdma_h.IBV_LINK_LAYER_INFINIBAND());
        try (var infiniband = Verbs.from(subnet).openFirst()) {
            var datagrams =
                    infiniband
                            .newProtectionDomain()
                            .newQueuePair(
                                    QueuePairOptions.datagrams(infiniband.newCompletionQueue(8)));

            assertThat(datagrams.addressOf(PEER, 0x17).route()).isEmpty();
            assertThat(datagrams.addressOf(Gid.NONE, 0x17).lid()).isEqualTo(0x17);
            assertThat(datagrams.addressOf(GROUP, 0xc000).route().orElseThrow().destination())
                    .isEqualTo(GROUP);
        }
    }

    @Test
    void shouldRejectAPeerWithoutAGidOnRoce() {
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> queuePair.addressOf(Gid.NONE, 0x17))
                .withMessageContaining("cannot reach a peer without a GID, which RoCE requires");
    }
}
