package org.jrdma.tck.recorded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.jrdma.verbs.QueuePairOptions.xrcSend;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.DirectConnectOptions;
import org.jrdma.verbs.SharedReceiveQueueOptions;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the calls of the provider for XRC connections, which no test device supports. */
class XrcTest {

    private static final int LID_OF_PORT_2 = 0x12;
    private static final Endpoint PEER = new Endpoint(0x11, 0x123, 0x456, Gid.NONE);

    @RegisterExtension private final Recorder recorder = Recorder.begin();

    @TempDir private Path folder;

    @Test
    void shouldOpenTheDomainOfAFile() throws Exception {
        var file = Files.createFile(folder.resolve("domain")).toRealPath();
        try (var device = recorder.open()) {
            recorder.calls();

            device.newXrcDomain();
            device.newXrcDomain(file);
            device.openXrcDomain(file);
            device.joinXrcDomain(file);

            assertThat(recorder.calls())
                    .containsExactly(
                            "ibv_open_xrcd context=device1 comp_mask=0x3 file=none oflags=0x40",
                            "ibv_open_xrcd context=device1 comp_mask=0x3 file=%s oflags=0xc0"
                                    .formatted(file),
                            "ibv_open_xrcd context=device1 comp_mask=0x3 file=%s oflags=0x40"
                                    .formatted(file),
                            "ibv_open_xrcd context=device1 comp_mask=0x3 file=%s oflags=0x0"
                                    .formatted(file));
        }
        assertThat(recorder.calls())
                .contains(
                        "ibv_close_xrcd xrcd=xrcd1",
                        "ibv_close_xrcd xrcd=xrcd2",
                        "ibv_close_xrcd xrcd=xrcd3",
                        "ibv_close_xrcd xrcd=xrcd4")
                .last()
                .isEqualTo("ibv_close_device context=device1");
    }

    @Test
    void shouldCreateAReceiveQueueThatHasANumber() throws Exception {
        recorder.answer("srq_num", 0x345);
        try (var device = recorder.open()) {
            var domain = device.newXrcDomain();
            var memory = device.newProtectionDomain();
            var completions = device.newCompletionQueue(16);
            recorder.calls();

            var queue =
                    memory.newXrcSharedReceiveQueue(
                            domain, completions, SharedReceiveQueueOptions.capacity(8).elements(2));
            var buffer = memory.newArena(Access.LOCAL_WRITE).region(100);

            assertThat(queue.number()).isEqualTo(0x345);
            assertThat(recorder.calls())
                    .startsWith(
                            "ibv_create_srq_ex context=device1 max_wr=8 max_sge=2 srq_limit=0"
                                    + " comp_mask=0xf srq_type=1 pd=pd1 xrcd=xrcd1 cq=cq1",
                            "ibv_get_srq_num srq=srq1");

            queue.prepareReceive(buffer.slice()).id(7).tryPost();

            assertThat(recorder.calls())
                    .containsExactly(
                            "ibv_post_srq_recv srq=srq1 {addr=0x%x length=100 lkey=0x11}"
                                    .formatted(buffer.segment().address()));
            var cursor = completions.newCursor(4);
            assertThat(cursor.poll()).isEqualTo(1);
            assertThat(cursor.next()).isTrue();
            assertThat(cursor.id()).isEqualTo(7);

            queue.close();
            domain.close();

            assertThat(recorder.calls())
                    .containsExactly("ibv_destroy_srq srq=srq1", "ibv_close_xrcd xrcd=xrcd1");
        }
    }

    @Test
    void shouldPassTheReceiveQueueNumberInEachRequest() throws Exception {
        try (var device = recorder.open()) {
            var memory = device.newProtectionDomain();
            var completions = device.newCompletionQueue(16);
            var buffer = memory.newArena(Access.LOCAL_WRITE).region(8);
            var address = buffer.segment().address();
            var remote = new RemoteMemory(0x1000, 0x55, 64);
            recorder.calls();

            var sender = memory.newQueuePair(xrcSend(completions).sends(5));

            assertThat(recorder.calls())
                    .first()
                    .asString()
                    .startsWith(
                            "ibv_create_qp_ex context=device1 pd=pd1 comp_mask=0x1"
                                    + " send_ops_flags=0x0 send_cq=cq1 recv_cq=0 srq=0 qp_type=9"
                                    + " sq_sig_all=0 max_send_wr=6 max_recv_wr=0 ")
                    .contains(" max_recv_sge=0 ");

            sender.connect(PEER, DirectConnectOptions.DEFAULT);

            assertThat(recorder.calls())
                    .anyMatch(call ->
                            call.startsWith("ibv_modify_qp qp=qp1 attr_mask=0x101181 ")
                                    && call.contains(" dest_qp_num=291")
                                    && !call.contains("min_rnr_timer"))
                    .anyMatch(call -> call.startsWith("ibv_modify_qp qp=qp1 attr_mask=0x12e01 "));

            sender.prepareSend(buffer.slice()).receiveQueue(0x345).tryPost();
            sender.prepareWrite(buffer.slice(), remote).receiveQueue(0x346).tryPost();
            sender.prepareRead(buffer.slice(), remote).receiveQueue(0x347).tryPost();
            sender.prepareFetchAndAdd(buffer.slice(), remote).receiveQueue(0x348).tryPost();

            var piece = " {addr=0x%x length=8 lkey=0x11}".formatted(address);
            assertThat(recorder.calls())
                    .containsExactly(
                            "ibv_post_send qp=qp1 opcode=2 send_flags=0x2 remote_srqn=0x345"
                                    + piece,
                            "ibv_post_send qp=qp1 opcode=0 send_flags=0x2"
                                    + " remote_addr=0x1000 rkey=0x55 remote_srqn=0x346"
                                    + piece,
                            "ibv_post_send qp=qp1 opcode=4 send_flags=0x2"
                                    + " remote_addr=0x1000 rkey=0x55 remote_srqn=0x347"
                                    + piece,
                            "ibv_post_send qp=qp1 opcode=6 send_flags=0x2 remote_srqn=0x348"
                                    + piece);
        }
    }

    @Test
    void shouldPassTheReceiveQueueNumberInEachExtendedPost() throws Exception {
        try (var device = recorder.open()) {
            var memory = device.newProtectionDomain();
            var completions = device.newCompletionQueue(16);
            var buffer = memory.newArena(Access.LOCAL_WRITE).region(8);
            var sender = memory.newQueuePair(xrcSend(completions).extendedPosts());
            sender.connect(PEER, DirectConnectOptions.DEFAULT);
            recorder.calls();

            sender.prepareSend(buffer.slice()).receiveQueue(0x345).tryPost();

            assertThat(recorder.calls())
                    .containsExactly(
                            "ibv_wr_start qp=qp1",
                            "ibv_wr_send qp=qp1 wr_flags=0x2",
                            "ibv_wr_set_xrc_srqn qp=qp1 remote_srqn=0x345",
                            "ibv_wr_set_sge qp=qp1 lkey=0x11 addr=0x%x length=8"
                                    .formatted(buffer.segment().address()),
                            "ibv_wr_complete qp=qp1");
        }
    }

    @Test
    void shouldCreateAndOpenAReceiveQueuePairOfADomain() throws Exception {
        try (var device = recorder.open()) {
            var domain = device.newXrcDomain();
            recorder.calls();

            var receiver = domain.newReceiveQueuePair(2);

            assertThat(recorder.calls())
                    .startsWith(
                            "ibv_create_qp_ex context=device1 pd=0 comp_mask=0x2"
                                    + " send_ops_flags=0x0 send_cq=0 recv_cq=0 srq=0 qp_type=10"
                                    + " sq_sig_all=0 max_send_wr=0 max_recv_wr=0 max_send_sge=0"
                                    + " max_recv_sge=0 max_inline_data=0 xrcd=xrcd1");

            receiver.connect(PEER, DirectConnectOptions.DEFAULT);

            assertThat(recorder.calls())
                    .anyMatch(call ->
                            call.startsWith("ibv_modify_qp qp=qp1 attr_mask=0x39 ")
                                    && call.contains(" port_num=2"))
                    .anyMatch(call ->
                            call.startsWith("ibv_modify_qp qp=qp1 attr_mask=0x")
                                    && call.contains(" dest_qp_num=291")
                                    && call.contains(" min_rnr_timer="));

            var reopened = domain.openReceiveQueuePair(0x100);

            assertThat(recorder.calls())
                    .startsWith(
                            "ibv_open_qp context=device1 comp_mask=0xb qp_num=0x100 xrcd=xrcd1"
                                    + " qp_type=10");
            reopened.close();
            receiver.close();
            domain.close();
            assertThat(recorder.calls())
                    .containsExactly(
                            "ibv_destroy_qp qp=qp2",
                            "ibv_destroy_qp qp=qp1",
                            "ibv_close_xrcd xrcd=xrcd1");
        }
    }

    @Test
    void shouldQueryThePortOfAQueuePairThatItOpens() throws Exception {
        try (var device = recorder.open()) {
            var domain = device.newXrcDomain();
            recorder.answer("opened_port", 2);

            var opened = domain.openReceiveQueuePair(0x100);

            assertThat(opened.endpoint().lid()).isEqualTo(LID_OF_PORT_2);
            recorder.calls();
            opened.connect(PEER, DirectConnectOptions.DEFAULT);
            assertThat(recorder.calls())
                    .anyMatch(call ->
                            call.startsWith("ibv_modify_qp qp=qp1 attr_mask=0x39 ")
                                    && call.contains(" port_num=2"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ibv_query_qp", "nothing"})
    void shouldDestroyAnOpenedQueuePairWhosePortIsUnknown(String failing) throws Exception {
        try (var device = recorder.open()) {
            var domain = device.newXrcDomain();
            if (failing.equals("nothing")) {
                recorder.answer("opened_port", 99);
            } else {
                recorder.fail(failing, Errno.EINVAL);
            }

            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> domain.openReceiveQueuePair(0x100));

            assertThat(recorder.calls()).last().isEqualTo("ibv_destroy_qp qp=qp1");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"open_xrcd", "create_srq_ex", "create_qp_ex", "open_qp"})
    void shouldReportThatAProviderDoesNotSupportXrc(String member) throws Exception {
        try (var device = recorder.openWithout(member)) {
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> {
                        var domain = device.newXrcDomain();
                        device.newProtectionDomain()
                                .newXrcSharedReceiveQueue(
                                        domain,
                                        device.newCompletionQueue(16),
                                        SharedReceiveQueueOptions.capacity(8));
                        domain.newReceiveQueuePair();
                        domain.openReceiveQueuePair(0x100);
                    })
                    .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EOPNOTSUPP));
        }
    }

    @Test
    void shouldDestroyAReceiveQueueWhoseNumberIsUnknown() throws Exception {
        try (var device = recorder.open()) {
            var domain = device.newXrcDomain();
            var memory = device.newProtectionDomain();
            var completions = device.newCompletionQueue(16);
            recorder.calls();
            recorder.fail("ibv_get_srq_num", Errno.EINVAL);

            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() ->
                            memory.newXrcSharedReceiveQueue(
                                    domain, completions, SharedReceiveQueueOptions.capacity(8)))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EINVAL));

            assertThat(recorder.calls()).last().isEqualTo("ibv_destroy_srq srq=srq1");
        }
    }
}
