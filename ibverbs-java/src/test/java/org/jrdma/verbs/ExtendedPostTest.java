package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.abi.rdma.ibv_data_buf;
import org.jrdma.abi.rdma.ibv_device_attr;
import org.jrdma.abi.rdma.ibv_qp;
import org.jrdma.abi.rdma.ibv_qp_ex;
import org.jrdma.abi.rdma.ibv_qp_init_attr_ex;
import org.jrdma.abi.rdma.ibv_send_wr;
import org.jrdma.abi.rdma.ibv_sge;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.PostException;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests which functions of {@code ibv_qp_ex} a post calls, and how it handles their failures. */
@Timeout(30)
class ExtendedPostTest {

    private static final Arena ARENA = Arena.global();

    private final FakeLibrary fake = new FakeLibrary();
    private final MemorySegment queuePair = ibv_qp_ex.allocate(ARENA);
    private final List<String> calls = new ArrayList<>();
    private int completeResult;
    private long operations;

    ExtendedPostTest() {
        ibv_qp.qp_num(queuePair, FakeLibrary.NUMBER);
        verbs_context.create_qp_ex(
                fake.extendedContext(),
                fake.stub("create_qp_ex", verbs_context.create_qp_ex.descriptor()));
        fake.answer("create_qp_ex", queuePair, 0)
                .answer("ibv_qp_to_qp_ex", queuePair, 0)
                .onCall(
                        "create_qp_ex",
                        arguments ->
                                operations =
                                        ibv_qp_init_attr_ex.send_ops_flags(
                                                FakeLibrary.memory(
                                                        arguments[1],
                                                        ibv_qp_init_attr_ex.layout().byteSize())))
                .onCall("post_send", _ -> calls.add("post_send"));
        ibv_qp_ex.wr_start(queuePair, ibv_qp_ex.wr_start.allocate(_ -> calls.add("start"), ARENA));
        ibv_qp_ex.wr_abort(queuePair, ibv_qp_ex.wr_abort.allocate(_ -> calls.add("abort"), ARENA));
        ibv_qp_ex.wr_complete(
                queuePair,
                ibv_qp_ex.wr_complete.allocate(
                        _ -> {
                            calls.add("complete");
                            return completeResult;
                        },
                        ARENA));
        ibv_qp_ex.wr_send(queuePair, ibv_qp_ex.wr_send.allocate(_ -> log("send"), ARENA));
        ibv_qp_ex.wr_send_imm(
                queuePair,
                ibv_qp_ex.wr_send_imm.allocate(
                        (_, immediate) -> log("send", FakeLibrary.bigEndian(immediate)), ARENA));
        ibv_qp_ex.wr_rdma_write(
                queuePair,
                ibv_qp_ex.wr_rdma_write.allocate(
                        (_, key, address) -> log("write", key, address), ARENA));
        ibv_qp_ex.wr_rdma_write_imm(
                queuePair,
                ibv_qp_ex.wr_rdma_write_imm.allocate(
                        (_, key, address, immediate) ->
                                log("write", key, address, FakeLibrary.bigEndian(immediate)),
                        ARENA));
        ibv_qp_ex.wr_rdma_read(
                queuePair,
                ibv_qp_ex.wr_rdma_read.allocate(
                        (_, key, address) -> log("read", key, address), ARENA));
        ibv_qp_ex.wr_atomic_cmp_swp(
                queuePair,
                ibv_qp_ex.wr_atomic_cmp_swp.allocate(
                        (_, key, address, compare, swap) ->
                                log("swap", key, address, compare, swap),
                        ARENA));
        ibv_qp_ex.wr_atomic_fetch_add(
                queuePair,
                ibv_qp_ex.wr_atomic_fetch_add.allocate(
                        (_, key, address, delta) -> log("add", key, address, delta), ARENA));
        ibv_qp_ex.wr_set_sge(
                queuePair,
                ibv_qp_ex.wr_set_sge.allocate(
                        (_, key, _, length) -> calls.add("piece " + key + " " + length), ARENA));
        ibv_qp_ex.wr_set_sge_list(
                queuePair,
                ibv_qp_ex.wr_set_sge_list.allocate(
                        (_, count, list) ->
                                calls.add("pieces " + count + lengths(list, count, true)),
                        ARENA));
        ibv_qp_ex.wr_set_inline_data(
                queuePair,
                ibv_qp_ex.wr_set_inline_data.allocate(
                        (_, _, length) -> calls.add("inline " + length), ARENA));
        ibv_qp_ex.wr_set_inline_data_list(
                queuePair,
                ibv_qp_ex.wr_set_inline_data_list.allocate(
                        (_, count, list) ->
                                calls.add("inlines " + count + lengths(list, count, false)),
                        ARENA));
        ibv_qp_ex.wr_set_ud_addr(
                queuePair,
                ibv_qp_ex.wr_set_ud_addr.allocate(
                        (_, _, number, key) -> calls.add("to " + number + " " + key), ARENA));
    }

    private void log(String name, Object... arguments) {
        calls.add(name + " " + ibv_qp_ex.wr_flags(queuePair) + " " + List.of(arguments));
    }

    private static List<Long> lengths(MemorySegment list, long count, boolean pieces) {
        var lengths = new ArrayList<Long>();
        var bytes = pieces ? ibv_sge.layout().byteSize() : ibv_data_buf.layout().byteSize();
        for (var index = 0; index < count; index++) {
            var slice = FakeLibrary.memory(list, count * bytes).asSlice(index * bytes);
            lengths.add(pieces ? ibv_sge.length(slice) : ibv_data_buf.length(slice));
        }
        return lengths;
    }

    private void simulateRxe() {
        fake.onCall(
                "ibv_query_device",
                arguments ->
                        ibv_device_attr.vendor_id(
                                FakeLibrary.memory(
                                        arguments[1], ibv_device_attr.layout().byteSize()),
                                0xff_ffff));
    }

    /** A connected queue pair and a memory region. */
    private record Fixture(Device device, PolledQueuePair queuePair, MemoryRegion region)
            implements AutoCloseable {

        @Override
        public void close() {
            device.close();
        }

        List<MemorySlice> pieces() {
            return List.of(region.slice(0, 10), region.slice(10, 20));
        }
    }

    private Fixture fixture() throws FabricException {
        return fixture(Verbs.from(fake).open(FakeLibrary.DEVICE));
    }

    private static Fixture fixture(Device device) throws FabricException {
        var domain = device.newProtectionDomain();
        var completions = device.newCompletionQueue(64);
        var created =
                domain.newQueuePair(
                        QueuePairOptions.reliable(completions)
                                .sends(4)
                                .receives(1)
                                .sendElements(2)
                                .extendedPosts());
        created.connect(created.endpoint());
        return new Fixture(device, created, domain.newArena(Access.LOCAL_WRITE).region(64));
    }

    @Test
    void shouldRequestEveryOperationOfTheQueuePairType() throws FabricException {
        try (var fixture = fixture()) {
            assertThat(fixture.queuePair().number()).isEqualTo(FakeLibrary.NUMBER);
            assertThat(operations)
                    .isEqualTo(
                            rdma_h.IBV_QP_EX_WITH_RDMA_WRITE()
                                    | rdma_h.IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM()
                                    | rdma_h.IBV_QP_EX_WITH_SEND()
                                    | rdma_h.IBV_QP_EX_WITH_SEND_WITH_IMM()
                                    | rdma_h.IBV_QP_EX_WITH_RDMA_READ()
                                    | rdma_h.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP()
                                    | rdma_h.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD()
                                    | rdma_h.IBV_QP_EX_WITH_SEND_WITH_INV()
                                    | rdma_h.IBV_QP_EX_WITH_LOCAL_INV()
                                    | rdma_h.IBV_QP_EX_WITH_BIND_MW());
        }
    }

    @Test
    void shouldNotRequestBindsIfTheDeviceHasNoMemoryWindows() throws FabricException {
        var windows =
                rdma_h.IBV_QP_EX_WITH_SEND_WITH_INV()
                        | rdma_h.IBV_QP_EX_WITH_LOCAL_INV()
                        | rdma_h.IBV_QP_EX_WITH_BIND_MW();
        fake.onCall(
                "create_qp_ex",
                arguments -> {
                    operations =
                            ibv_qp_init_attr_ex.send_ops_flags(
                                    FakeLibrary.memory(
                                            arguments[1], ibv_qp_init_attr_ex.layout().byteSize()));
                    var rejected = (operations & windows) != 0;
                    fake.answer(
                            "create_qp_ex",
                            rejected ? MemorySegment.NULL : queuePair,
                            rejected ? Errno.EOPNOTSUPP : 0);
                });
        try (var fixture = fixture()) {
            assertThat(operations & windows).isZero();
            assertThat(fixture.queuePair().prepareSend(fixture.pieces()).tryPost()).isTrue();
        }
        assertThat(fake.calls.stream().filter("create_qp_ex"::equals)).hasSize(2);
    }

    @Test
    void shouldCallAFunctionForEachPartOfARequest() throws FabricException {
        var remote = new RemoteMemory(0x1000, 7, 64);
        try (var fixture = fixture()) {
            var pair = fixture.queuePair();
            var slice = fixture.region().slice(0, 8);
            var key = fixture.region().localKey();
            var signaled = rdma_h.IBV_SEND_SIGNALED();

            assertThat(pair.prepareSend(slice).tryPost()).isTrue();
            assertThat(calls)
                    .containsExactly(
                            "start", "send " + signaled + " []", "piece " + key + " 8", "complete");
            calls.clear();
            assertThat(pair.prepareSend(fixture.pieces()).immediate(5).fenced(true).tryPost())
                    .isTrue();
            assertThat(calls)
                    .containsExactly(
                            "start",
                            "send " + (signaled | rdma_h.IBV_SEND_FENCE()) + " [5]",
                            "pieces 2[10, 20]",
                            "complete");
            calls.clear();
            assertThat(pair.prepareRead(slice, remote.slice(8, 8)).tryPost()).isTrue();
            assertThat(calls)
                    .containsExactly(
                            "start",
                            "read " + signaled + " [7, 4104]",
                            "piece " + key + " 8",
                            "complete");
            calls.clear();
            assertThat(pair.prepareWrite(List.of(), remote).immediate(6).tryPost()).isTrue();
            assertThat(calls)
                    .containsExactly(
                            "start",
                            "write " + signaled + " [7, 4096, 6]",
                            "pieces 0[]",
                            "complete");
        }
    }

    @Test
    void shouldPassTheOperandsOfAtomicsInOrder() throws FabricException {
        var remote = new RemoteMemory(0x1000, 7, 64);
        try (var fixture = fixture()) {
            var pair = fixture.queuePair();
            var slice = fixture.region().slice(0, 8);
            var signaled = rdma_h.IBV_SEND_SIGNALED();

            pair.prepareCompareAndSwap(slice, remote).values(1, 2).tryPost();
            pair.prepareFetchAndAdd(slice, remote).delta(3).tryPost();

            assertThat(calls)
                    .contains(
                            "swap " + signaled + " [7, 4096, 1, 2]",
                            "add " + signaled + " [7, 4096, 3]");
        }
    }

    @Test
    void shouldFreeTheSlotsOfARejectedChain() throws FabricException {
        try (var fixture = fixture()) {
            var pair = fixture.queuePair();
            var slice = fixture.region().slice(0, 8);
            var chain = pair.prepareChain(pair.prepareSend(slice), pair.prepareSend(slice));
            completeResult = Errno.EINVAL;

            assertThatExceptionOfType(PostException.class)
                    .isThrownBy(chain::tryPost)
                    .withMessageContaining("ibv_wr_complete")
                    .withMessageContaining("EINVAL")
                    .satisfies(rejected -> assertThat(rejected.failedRequest()).isZero());
            assertThat(pair.freeSends()).isEqualTo(4);
            assertThat(calls).containsOnlyOnce("start", "complete");
        }
    }

    @Test
    void shouldKeepTheSlotsOfRequestsThatRxePostedDespiteAFailedDoorbell() throws FabricException {
        simulateRxe();
        try (var fixture = fixture()) {
            var send = fixture.queuePair().prepareSend(fixture.region().slice(0, 8));
            completeResult = Errno.EIO;
            assertThatExceptionOfType(PostException.class).isThrownBy(send::tryPost);
            assertThat(fixture.queuePair().freeSends()).isEqualTo(3);
            completeResult = Errno.ENOSPC;
            assertThatExceptionOfType(PostException.class).isThrownBy(send::tryPost);
            assertThat(fixture.queuePair().freeSends()).isEqualTo(3);
        }
    }

    @Test
    void shouldUseIbvPostSendForScatterListsOnRxe() throws FabricException {
        simulateRxe();
        try (var fixture = fixture()) {
            var pair = fixture.queuePair();
            var slice = fixture.region().slice(0, 8);

            pair.prepareChain(pair.prepareSend(slice), pair.prepareSend(fixture.pieces()))
                    .tryPost();
            assertThat(calls).containsExactly("post_send");
            calls.clear();
            pair.prepareSend(slice).tryPost();
            assertThat(calls).contains("start").doesNotContain("post_send");
        }
    }

    @Test
    void shouldAbortAtAnUnsupportedOperation() throws FabricException {
        try (var fixture = fixture()) {
            var request = ibv_send_wr.allocate(ARENA);
            ibv_send_wr.opcode(request, rdma_h.IBV_WR_TSO());
            var failed = ARENA.allocate(ValueLayout.JAVA_LONG);

            var errno =
                    fixture.queuePair()
                            .queuePair()
                            .hotPath()
                            .postSend(queuePair.address(), request.address(), failed.address());

            assertThat(errno).isEqualTo(Errno.EOPNOTSUPP);
            assertThat(failed.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(request.address());
            assertThat(calls).containsExactly("start", "abort");
        }
    }

    @Test
    void shouldDestroyAQueuePairWithoutExtendedPostFunctions() throws FabricException {
        fake.answer("ibv_qp_to_qp_ex", MemorySegment.NULL, 0);

        try (var device = Verbs.from(fake).open(FakeLibrary.DEVICE)) {
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> fixture(device))
                    .withMessageContaining("ibv_create_qp_ex")
                    .withMessageContaining("EOPNOTSUPP");
        }
        assertThat(fake.calls).containsOnlyOnce("create_qp_ex", "ibv_destroy_qp");
    }
}
