package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jrdma.abi.rdma.ibv_cq_ex;
import org.jrdma.abi.rdma.ibv_cq_init_attr_ex;
import org.jrdma.abi.rdma.ibv_device_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.model.CompletionField;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests which provider functions an extended completion queue calls, and in which order. */
@Timeout(30)
class ExtendedCompletionQueueTest {

    private static final Set<CompletionField> ALL = EnumSet.allOf(CompletionField.class);

    private final FakeLibrary fake = new FakeLibrary();
    private final MemorySegment queue = ibv_cq_ex.allocate(Arena.global());

    /** The names of the provider functions that were called, in order. */
    private final List<String> calls = new ArrayList<>();

    private int pendingCompletions;

    private int status;
    private int requestedFields;
    private int flags = -1;

    ExtendedCompletionQueueTest() {
        verbs_context.create_cq_ex(
                fake.extendedContext(),
                fake.stub("create_cq_ex", verbs_context.create_cq_ex.descriptor()));
        fake.answer("create_cq_ex", queue, 0)
                .onCall(
                        "create_cq_ex",
                        arguments -> {
                            var attributes =
                                    FakeLibrary.memory(
                                            arguments[1], ibv_cq_init_attr_ex.layout().byteSize());
                            requestedFields = (int) ibv_cq_init_attr_ex.wc_flags(attributes);
                            flags =
                                    ibv_cq_init_attr_ex.comp_mask(attributes) == 0
                                            ? -1
                                            : ibv_cq_init_attr_ex.flags(attributes);
                        });
        var functions = Arena.global();
        ibv_cq_ex.start_poll(
                queue,
                ibv_cq_ex.start_poll.allocate(
                        (_, attributes) -> {
                            var mask =
                                    FakeLibrary.memory(attributes, 4).get(ValueLayout.JAVA_INT, 0);
                            return mask == 0 ? poll("start") : Errno.EINVAL;
                        },
                        functions));
        ibv_cq_ex.next_poll(queue, ibv_cq_ex.next_poll.allocate(_ -> poll("next"), functions));
        ibv_cq_ex.end_poll(queue, ibv_cq_ex.end_poll.allocate(_ -> calls.add("end"), functions));
        ibv_cq_ex.read_opcode(
                queue,
                ibv_cq_ex.read_opcode.allocate(
                        _ -> read("opcode", rdma_h.IBV_WC_RECV()), functions));
        ibv_cq_ex.read_vendor_err(
                queue, ibv_cq_ex.read_vendor_err.allocate(_ -> read("vendor", 99), functions));
        ibv_cq_ex.read_wc_flags(
                queue,
                ibv_cq_ex.read_wc_flags.allocate(
                        _ -> read("flags", rdma_h.IBV_WC_WITH_IMM() | rdma_h.IBV_WC_GRH()),
                        functions));
        ibv_cq_ex.read_byte_len(
                queue, ibv_cq_ex.read_byte_len.allocate(_ -> read("bytes", 1), functions));
        ibv_cq_ex.read_imm_data(
                queue,
                ibv_cq_ex.read_imm_data.allocate(
                        _ -> read("immediate", FakeLibrary.bigEndian(2)), functions));
        ibv_cq_ex.read_qp_num(
                queue, ibv_cq_ex.read_qp_num.allocate(_ -> read("queuePair", 3), functions));
        ibv_cq_ex.read_src_qp(
                queue, ibv_cq_ex.read_src_qp.allocate(_ -> read("source", 4), functions));
        ibv_cq_ex.read_slid(
                queue, ibv_cq_ex.read_slid.allocate(_ -> read("lid", 0xfffe), functions));
        ibv_cq_ex.read_sl(
                queue, ibv_cq_ex.read_sl.allocate(_ -> (byte) read("level", 15), functions));
        ibv_cq_ex.read_dlid_path_bits(
                queue,
                ibv_cq_ex.read_dlid_path_bits.allocate(_ -> (byte) read("path", 127), functions));
        ibv_cq_ex.read_completion_ts(
                queue,
                ibv_cq_ex.read_completion_ts.allocate(
                        _ -> read("timestamp", 8) + (1L << 40), functions));
        ibv_cq_ex.read_completion_wallclock_ns(
                queue,
                ibv_cq_ex.read_completion_wallclock_ns.allocate(
                        _ -> read("wallClock", 9) + (1L << 41), functions));
        ibv_cq_ex.read_cvlan(
                queue, ibv_cq_ex.read_cvlan.allocate(_ -> (short) read("vlan", 0xa00a), functions));
        ibv_cq_ex.read_flow_tag(
                queue, ibv_cq_ex.read_flow_tag.allocate(_ -> read("flow", 11), functions));
    }

    private int poll(String call) {
        calls.add(call);
        if (pendingCompletions == 0) {
            return Errno.ENOENT;
        }
        pendingCompletions--;
        ibv_cq_ex.status(queue, status);
        return 0;
    }

    private int read(String call, int value) {
        calls.add(call);
        return value;
    }

    /**
     * Returns a cursor of a completion queue. Eight receives are posted to its queue pair, and the
     * completions refer to the last of them.
     */
    private CompletionCursor cursor(Device device, CompletionQueueOptions options, int batch)
            throws FabricException {
        var completions = device.newCompletionQueue(options);
        var pair =
                device.newProtectionDomain()
                        .newQueuePair(QueuePairOptions.reliable(completions).sends(1).receives(8));
        pair.modify(QueuePairChange.to(QueuePairState.INIT).partitionKeyIndex(0).port(1).access());
        fake.onCall(
                "post_recv",
                arguments ->
                        ibv_cq_ex.wr_id(
                                queue,
                                FakeLibrary.memory(arguments[1], 8).get(ValueLayout.JAVA_LONG, 0)));
        for (var count = 0; count < 8; count++) {
            assertThat(pair.prepareReceive(List.of()).id(count).tryPost()).isTrue();
        }
        return completions.newCursor(batch);
    }

    private Device open() throws FabricException {
        return Verbs.from(fake).open(FakeLibrary.DEVICE);
    }

    @Test
    void shouldRequestOnlyTheSelectedFields() throws FabricException {
        try (var device = open()) {
            device.newCompletionQueue(
                    CompletionQueueOptions.capacity(8)
                            .fields(Set.of(CompletionField.TIMESTAMP, CompletionField.BYTES)));
            assertThat(requestedFields)
                    .isEqualTo(
                            rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP()
                                    | rdma_h.IBV_WC_EX_WITH_BYTE_LEN());
            assertThat(flags).isEqualTo(-1);

            device.newCompletionQueue(
                    CompletionQueueOptions.capacity(8).singleThreadedUnguarded().ignoreOverrun());
            assertThat(requestedFields).isEqualTo(rdma_h.IBV_WC_STANDARD_FLAGS());
            assertThat(flags)
                    .isEqualTo(
                            rdma_h.IBV_CREATE_CQ_ATTR_SINGLE_THREADED()
                                    | rdma_h.IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN());
        }
    }

    @Test
    void shouldReturnEveryFieldFromTheProvider() throws FabricException {
        try (var device = open();
                var cursor = cursor(device, CompletionQueueOptions.capacity(16).fields(ALL), 4)) {
            pendingCompletions = 1;

            assertThat(cursor.poll()).isEqualTo(1);
            assertThat(cursor.next()).isTrue();

            assertThat(cursor.id()).isEqualTo(7);
            assertThat(cursor.kind()).isEqualTo(CompletionKind.RECEIVE);
            assertThat(cursor.bytes()).isEqualTo(1);
            assertThat(cursor.hasImmediate()).isTrue();
            assertThat(cursor.immediate()).isEqualTo(2);
            assertThat(cursor.queuePairNumber()).isEqualTo(3);
            assertThat(cursor.sourceQueuePairNumber()).isEqualTo(4);
            assertThat(cursor.hasGlobalRoute()).isTrue();
            assertThat(cursor.timestamp()).isEqualTo(8 + (1L << 40));
            assertThat(cursor.wallClockNanos()).isEqualTo(9 + (1L << 41));
            assertThat(cursor.vlanTag()).isEqualTo(0xa00a);
            assertThat(cursor.flowTag()).isEqualTo(11);
            assertThat(cursor.vendorError()).isZero();
            assertThat(calls)
                    .containsExactly(
                            "start",
                            "queuePair",
                            "opcode",
                            "bytes",
                            "flags",
                            "immediate",
                            "source",
                            "lid",
                            "level",
                            "path",
                            "timestamp",
                            "wallClock",
                            "vlan",
                            "flow",
                            "next",
                            "end");
        }
    }

    @Test
    void shouldReadNoFieldThatWasNotSelected() throws FabricException {
        try (var device = open();
                var cursor =
                        cursor(device, CompletionQueueOptions.capacity(16).fields(Set.of()), 4)) {
            pendingCompletions = 1;

            assertThat(cursor.poll()).isEqualTo(1);

            assertThat(calls).containsExactly("start", "opcode", "next", "end");
        }
    }

    @Test
    void shouldReadOnlyTheFieldsOfAFailedCompletion() throws FabricException {
        try (var device = open();
                var cursor = cursor(device, CompletionQueueOptions.capacity(16).fields(ALL), 4)) {
            pendingCompletions = 1;
            status = rdma_h.IBV_WC_WR_FLUSH_ERR();

            assertThat(cursor.poll()).isEqualTo(1);
            assertThat(cursor.next()).isTrue();

            assertThat(cursor.status()).isEqualTo(CompletionStatus.FLUSHED);
            assertThat(cursor.vendorError()).isEqualTo(99);
            assertThat(calls).containsExactly("start", "queuePair", "vendor", "next", "end");
        }
    }

    @Test
    void shouldCallEndPollOnlyAfterASuccessfulStartPoll() throws FabricException {
        try (var device = open();
                var cursor =
                        cursor(device, CompletionQueueOptions.capacity(16).fields(Set.of()), 2)) {
            assertThat(cursor.poll()).isZero();
            assertThat(calls).containsExactly("start");
            calls.clear();
            pendingCompletions = 3;

            assertThat(cursor.poll()).isEqualTo(2);

            assertThat(calls).containsExactly("start", "opcode", "next", "opcode", "end");
        }
    }

    @Test
    void shouldNotCallNextPollOnRxe() throws FabricException {
        fake.onCall(
                "ibv_query_device",
                arguments ->
                        ibv_device_attr.vendor_id(
                                FakeLibrary.memory(
                                        arguments[1], ibv_device_attr.layout().byteSize()),
                                0xff_ffff));
        try (var device = open();
                var cursor =
                        cursor(device, CompletionQueueOptions.capacity(16).fields(Set.of()), 3)) {
            pendingCompletions = 2;

            assertThat(cursor.poll()).isEqualTo(2);

            assertThat(calls)
                    .containsExactly("start", "opcode", "end", "start", "opcode", "end", "start");
        }
    }

    @Test
    void shouldReportAnErrorOfStartPoll() throws FabricException {
        ibv_cq_ex.start_poll(
                queue, ibv_cq_ex.start_poll.allocate((_, _) -> Errno.EIO, Arena.global()));
        try (var device = open();
                var cursor =
                        cursor(device, CompletionQueueOptions.capacity(16).fields(Set.of()), 3)) {
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(cursor::poll)
                    .withMessageContaining("-5");
        }
    }

    @Test
    void shouldReportALibraryWithoutExtendedCompletionQueues() throws FabricException {
        verbs_context.create_cq_ex(fake.extendedContext(), MemorySegment.NULL);
        try (var device = open()) {
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() ->
                            device.newCompletionQueue(
                                    CompletionQueueOptions.capacity(8).fields(ALL)))
                    .withMessageContaining("ibv_create_cq_ex")
                    .withMessageContaining("EOPNOTSUPP")
                    .withMessageEndingWith(
                            "The device does not support extended completion queues.");
        }
    }
}
