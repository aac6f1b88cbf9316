package org.jrdma.tck.recorded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.jrdma.verbs.QueuePairOptions.rawPackets;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.CompletionField;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.RateLimit;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests raw packet queue pairs. */
class RawPacketTest {

    private static final int ETHERNET = 2; // IBV_LINK_LAYER_ETHERNET
    private static final int GOOD_CHECKSUM = 1 << 2; // IBV_WC_IP_CSUM_OK
    private static final String CAPACITIES =
            "max_send_wr=5 max_recv_wr=4 max_send_sge=2 max_recv_sge=1 max_inline_data=64";

    @RegisterExtension private final Recorder recorder = Recorder.begin();
    private Device device;
    private ProtectionDomain domain;
    private CompletionQueue completions;
    private MemoryRegion memory;

    @BeforeEach
    void open() throws Exception {
        recorder.answer("link_layer", ETHERNET);
        device = recorder.open();
        domain = device.newProtectionDomain();
        completions = device.newCompletionQueue(16);
        memory = domain.newArena(Access.LOCAL_WRITE).region(4096);
        recorder.calls();
    }

    @AfterEach
    void close() {
        device.close();
    }

    @Test
    void shouldCreateAndActivateARawPacketQueuePair() throws Exception {
        var queuePair =
                domain.newQueuePair(
                        rawPackets(completions)
                                .sends(4)
                                .receives(4)
                                .sendElements(2)
                                .inlineBytes(64)
                                .port(2));
        queuePair.activate();

        assertThat(queuePair.type()).isEqualTo(QueuePairType.RAW_PACKET);
        assertThat(queuePair.query().state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(recorder.calls())
                .containsExactly(
                        "ibv_create_qp pd=pd1 send_cq=cq1 recv_cq=cq1 srq=0 qp_type=8 sq_sig_all=0 "
                                + CAPACITIES,
                        "ibv_modify_qp qp=qp1 attr_mask=0x21 qp_state=1 port_num=2",
                        "ibv_modify_qp qp=qp1 attr_mask=0x1 qp_state=2",
                        "ibv_modify_qp qp=qp1 attr_mask=0x1 qp_state=3",
                        "ibv_query_qp qp=qp1 attr_mask=0x80001");
    }

    @Test
    void shouldSendAndReceiveUnchangedFrames() throws Exception {
        var queuePair =
                domain.newQueuePair(rawPackets(completions).sendElements(2).inlineBytes(64));
        queuePair.activate();
        recorder.calls();
        var start = memory.startAddress();

        var gathered = List.of(memory.slice(0, 14), memory.slice(100, 50));
        assertThat(queuePair.prepareSend(gathered).checksummed(true).id(1).tryPost()).isTrue();
        assertThat(queuePair.prepareSend(memory.slice(0, 60)).inline(true).id(2).tryPost())
                .isTrue();
        assertThat(queuePair.prepareReceive(memory.slice(2048, 1600)).id(3).tryPost()).isTrue();

        assertThat(recorder.calls())
                .containsExactly(
                        "ibv_post_send qp=qp1 opcode=2 send_flags=0x12 {addr=0x%x length=14 lkey=0x11} {addr=0x%x length=50 lkey=0x11}"
                                .formatted(start, start + 100),
                        "ibv_post_send qp=qp1 opcode=2 send_flags=0xa {addr=0x%x length=60 lkey=0x11}"
                                .formatted(start),
                        "ibv_post_recv qp=qp1 {addr=0x%x length=1600 lkey=0x11}"
                                .formatted(start + 2048));
        try (var cursor = completions.newCursor(4)) {
            assertThat(cursor.poll()).isEqualTo(3);
            for (var id = 1; id <= 3; id++) {
                assertThat(cursor.next()).isTrue();
                assertThat(cursor.id()).isEqualTo(id);
                assertThat(cursor.completion().isSuccess()).isTrue();
            }
            assertThat(cursor.bytes()).isEqualTo(1600);
        }
    }

    @Test
    void shouldSendFramesOnAnAsyncQueuePair() throws Exception {
        var queuePair = domain.newQueuePair(rawPackets(device.newCompletionDispatcher(16)));
        queuePair.activate();
        recorder.calls();

        queuePair.send(memory.slice(0, 60));

        assertThat(recorder.calls())
                .containsExactly(
                        "ibv_post_send qp=qp1 opcode=2 send_flags=0x2 {addr=0x%x length=60 lkey=0x11}"
                                .formatted(memory.startAddress()));
    }

    @Test
    void shouldSendWithExtendedPosts() throws Exception {
        var queuePair =
                domain.newQueuePair(
                        rawPackets(completions)
                                .sends(4)
                                .receives(4)
                                .sendElements(2)
                                .inlineBytes(64)
                                .extendedPosts());
        queuePair.activate();

        assertThat(queuePair.prepareSend(memory.slice(0, 60)).tryPost()).isTrue();

        assertThat(recorder.calls())
                .contains(
                        "ibv_create_qp_ex context=device1 pd=pd1 comp_mask=0x41 send_ops_flags=0x4"
                                + " send_cq=cq1 recv_cq=cq1 srq=0 qp_type=8 sq_sig_all=0 "
                                + CAPACITIES)
                .endsWith(
                        "ibv_wr_start qp=qp1",
                        "ibv_wr_send qp=qp1 wr_flags=0x2",
                        "ibv_wr_set_sge qp=qp1 lkey=0x11 addr=0x%x length=60"
                                .formatted(memory.startAddress()),
                        "ibv_wr_complete qp=qp1");
    }

    @Test
    void shouldSetTheRateLimitInAndAfterTheTransitionToReadyToSend() throws Exception {
        var queuePair = domain.newRawQueuePair(completions);
        queuePair.modify(QueuePairChange.to(QueuePairState.INIT).port(1));
        queuePair.modify(QueuePairChange.to(QueuePairState.READY_TO_RECEIVE));
        recorder.calls();

        queuePair.modify(QueuePairChange.to(QueuePairState.READY_TO_SEND).rateLimit(5000));
        queuePair.modify(QueuePairChange.ofAttributes().rateLimit(6000));
        queuePair.limitRate(RateLimit.NONE);

        assertThat(recorder.calls())
                .containsExactly(
                        "ibv_modify_qp qp=qp1 attr_mask=0x2000001 qp_state=3 rate_limit=5000",
                        "ibv_modify_qp qp=qp1 attr_mask=0x2000000 rate_limit=6000",
                        "ibv_modify_qp_rate_limit qp=qp1 rate_limit=0 max_burst_sz=0"
                                + " typical_pkt_sz=0 comp_mask=0");
    }

    @Test
    void shouldDrainWithAFrameThatIsLongEnoughForItsHeader() throws Exception {
        var queuePair = domain.newRawQueuePair(completions);
        queuePair.activate();
        var free = queuePair.freeSends();
        assertThat(queuePair.prepareSend(memory.slice(0, 60)).signaled(false).tryPost()).isTrue();
        recorder.calls();

        try (var cursor = completions.newCursor(4)) {
            queuePair.drain(cursor, Duration.ofSeconds(5), _ -> {});
        }

        assertThat(queuePair.freeSends()).isEqualTo(free);
        assertThat(recorder.calls())
                .last()
                .asString()
                .matches(
                        "ibv_post_send qp=qp1 opcode=2 send_flags=0x2 \\{addr=0x\\w+ length=60"
                                + " lkey=0x0\\}");
    }

    @Test
    void shouldReportTheTagsAndTheChecksumOfAPacket() throws Exception {
        recorder.answer("cvlan", 0xe123);
        recorder.answer("flow_tag", 0xcafe_babe);
        recorder.answer("wc_flags", GOOD_CHECKSUM);
        var extendedQueue =
                device.newCompletionQueue(
                        CompletionQueueOptions.capacity(16)
                                .fields(
                                        Set.of(
                                                CompletionField.IMMEDIATE,
                                                CompletionField.VLAN_TAG,
                                                CompletionField.FLOW_TAG)));
        var queuePair = domain.newQueuePair(rawPackets(extendedQueue).sends(4).receives(4));
        queuePair.activate();
        queuePair.prepareReceive(memory.slice()).tryPost();
        queuePair.prepareSend(memory.slice(0, 60)).tryPost();

        assertThat(recorder.calls())
                .contains(
                        "ibv_create_cq_ex context=device1 cqe=16 channel=0 comp_vector=0"
                                + " wc_flags=0x302 comp_mask=0x0 flags=0x0");
        try (var cursor = extendedQueue.newCursor(4)) {
            assertThat(cursor.poll()).isEqualTo(2);
            cursor.next();
            assertThat(cursor.vlanTag()).isEqualTo(0xe123);
            assertThat(cursor.flowTag()).isEqualTo(0xcafe_babe);
            assertThat(cursor.hasGoodChecksum()).isTrue();
            cursor.next();
            assertThat(cursor.kind()).isEqualTo(CompletionKind.SEND);
            // The flag is ignored in the completion of a send.
            assertThat(cursor.hasGoodChecksum()).isFalse();
        }
    }

    @Test
    void shouldStoreTheChecksumResultInACompletion() throws Exception {
        var queuePair = domain.newRawQueuePair(completions);
        queuePair.activate();
        queuePair.prepareReceive(memory.slice()).tryPost();
        recorder.answer("wc_flags", GOOD_CHECKSUM);
        queuePair.prepareReceive(memory.slice()).tryPost();

        try (var cursor = completions.newCursor(4)) {
            cursor.poll();
            cursor.next();
            assertThat(cursor.completion().goodChecksum()).isFalse();
            cursor.next();
            assertThat(cursor.completion().goodChecksum()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReportTheVendorErrorOfAFailure(boolean extended) throws Exception {
        recorder.answer("wc_status", 3); // IBV_WC_LOC_EEC_OP_ERR
        recorder.answer("vendor_err", 0x68);
        recorder.answer("wc_flags", GOOD_CHECKSUM);
        var options = CompletionQueueOptions.capacity(16);
        var queue =
                device.newCompletionQueue(
                        extended ? options.fields(CompletionField.STANDARD) : options);
        var queuePair = domain.newQueuePair(rawPackets(queue).sends(4).receives(4));
        queuePair.activate();
        queuePair.prepareSend(memory.slice(0, 60)).tryPost();

        try (var cursor = queue.newCursor(4)) {
            cursor.poll();
            assertThat(cursor.next()).isTrue();
            assertThat(cursor.isSuccess()).isFalse();
            assertThat(cursor.vendorError()).isEqualTo(0x68);
            assertThat(cursor.completion().vendorError()).isEqualTo(0x68);
        }
    }

    @Test
    void shouldDestroyAQueuePairWithoutFunctionsForExtendedPosts() throws Exception {
        recorder.answer("qp_to_qp_ex", 0);
        var extended = rawPackets(completions).extendedPosts();
        var remaining = completions.remainingCapacity();

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> domain.newQueuePair(extended));

        assertThat(completions.remainingCapacity()).isEqualTo(remaining);
        assertThat(recorder.calls()).last().isEqualTo("ibv_destroy_qp qp=qp1");
        domain.close();
        assertThat(recorder.calls()).doesNotContain("ibv_destroy_qp qp=unknown");
        assertThat(completions.remainingCapacity()).isEqualTo(remaining);
    }

    @Test
    void shouldRejectAPortThatIsNotEthernet() {
        recorder.answer("link_layer", 1);

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> domain.newRawQueuePair(completions))
                .withMessageContaining("port 1 of recording0 is INFINIBAND");
        assertThat(recorder.calls()).isEmpty();
    }

    @Test
    void shouldReportThePrivilegesThatTheProcessNeeds() {
        recorder.fail("ibv_create_qp", Errno.EPERM);

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> domain.newRawQueuePair(completions))
                .withMessageContaining("CAP_NET_RAW");
    }
}
