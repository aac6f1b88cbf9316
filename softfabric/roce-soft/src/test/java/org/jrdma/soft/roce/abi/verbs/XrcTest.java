package org.jrdma.soft.roce.abi.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.soft.roce.abi.ExportedFunctionTestSupport.assertRejected;

import java.io.FileInputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.jrdma.abi.rdma.ibv_async_event;
import org.jrdma.abi.rdma.ibv_device_attr;
import org.jrdma.abi.rdma.ibv_qp;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.ibv_qp_cap;
import org.jrdma.abi.rdma.ibv_qp_init_attr;
import org.jrdma.abi.rdma.ibv_qp_init_attr_ex;
import org.jrdma.abi.rdma.ibv_qp_open_attr;
import org.jrdma.abi.rdma.ibv_recv_wr;
import org.jrdma.abi.rdma.ibv_send_wr;
import org.jrdma.abi.rdma.ibv_srq_attr;
import org.jrdma.abi.rdma.ibv_srq_init_attr_ex;
import org.jrdma.abi.rdma.ibv_xrcd;
import org.jrdma.abi.rdma.ibv_xrcd_init_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.ExportedFunctionTestSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests XRC domains, their receive queues and their queue pairs as a C program uses them. */
@Timeout(30)
class XrcTest {

    // Flags of open(2).
    private static final int CREATE = 0x40;
    private static final int EXCLUSIVE = 0x80;

    private static final int NO_FILE = -1;
    private static final int STANDARD_INPUT = 0;
    private static final int NEVER_OPENED = 9_999;

    private final Arena arena = Arena.ofConfined();
    private DeviceObject device;
    private long context;
    private long domain;
    private long completions;
    private long extended;

    @BeforeEach
    void open() {
        device = ExportedFunctionTestSupport.newDevice();
        context = DeviceExports.openDevice(device.structure().address());
        domain = DomainAndMemoryExports.allocateDomain(context);
        completions = CompletionExports.createQueue(context, 16, 0, 0, 0);
        extended = openDomain(context, NO_FILE, CREATE);
    }

    @AfterEach
    void close() {
        DeviceExports.closeDevice(context);
        arena.close();
    }

    private long openDomain(long opener, int descriptor, int flags) {
        var config = ibv_xrcd_init_attr.allocate(arena);
        ibv_xrcd_init_attr.comp_mask(
                config, rdma_h.IBV_XRCD_INIT_ATTR_FD() | rdma_h.IBV_XRCD_INIT_ATTR_OFLAGS());
        ibv_xrcd_init_attr.fd(config, descriptor);
        ibv_xrcd_init_attr.oflags(config, flags);
        return XrcFunctions.openDomain(opener, config.address());
    }

    private MemorySegment queueConfig() {
        var config = ibv_srq_init_attr_ex.allocate(arena);
        ibv_srq_attr.max_wr(ibv_srq_init_attr_ex.attr(config), 4);
        ibv_srq_attr.max_sge(ibv_srq_init_attr_ex.attr(config), 1);
        ibv_srq_init_attr_ex.comp_mask(
                config,
                rdma_h.IBV_SRQ_INIT_ATTR_TYPE()
                        | rdma_h.IBV_SRQ_INIT_ATTR_PD()
                        | rdma_h.IBV_SRQ_INIT_ATTR_XRCD()
                        | rdma_h.IBV_SRQ_INIT_ATTR_CQ());
        ibv_srq_init_attr_ex.srq_type(config, rdma_h.IBV_SRQT_XRC());
        ibv_srq_init_attr_ex.pd(config, MemorySegment.ofAddress(domain));
        ibv_srq_init_attr_ex.xrcd(config, MemorySegment.ofAddress(extended));
        ibv_srq_init_attr_ex.cq(config, MemorySegment.ofAddress(completions));
        return config;
    }

    private long create(MemorySegment config) {
        return XrcFunctions.createSharedQueue(context, config.address());
    }

    private int number(long queue) {
        var target = arena.allocate(ValueLayout.JAVA_INT);
        assertThat(XrcFunctions.sharedQueueNumber(queue, target.address())).isZero();
        return target.get(ValueLayout.JAVA_INT, 0);
    }

    private MemorySegment receiverConfig() {
        var config = ibv_qp_init_attr_ex.allocate(arena);
        ibv_qp_init_attr.qp_type(config, rdma_h.IBV_QPT_XRC_RECV());
        ibv_qp_init_attr_ex.comp_mask(config, rdma_h.IBV_QP_INIT_ATTR_XRCD());
        ibv_qp_init_attr_ex.xrcd(config, MemorySegment.ofAddress(extended));
        return config;
    }

    private MemorySegment senderConfig() {
        var config = ibv_qp_init_attr_ex.allocate(arena);
        ibv_qp_init_attr.qp_type(config, rdma_h.IBV_QPT_XRC_SEND());
        ibv_qp_init_attr.send_cq(config, MemorySegment.ofAddress(completions));
        ibv_qp_cap.max_send_wr(ibv_qp_init_attr.cap(config), 2);
        ibv_qp_cap.max_recv_wr(ibv_qp_init_attr.cap(config), 7);
        ibv_qp_init_attr_ex.comp_mask(config, rdma_h.IBV_QP_INIT_ATTR_PD());
        ibv_qp_init_attr_ex.pd(config, MemorySegment.ofAddress(domain));
        return config;
    }

    private long createQueuePair(MemorySegment config) {
        return ControlPathFunctions.createQueuePair(context, config.address());
    }

    private MemorySegment openConfig(long in, int number) {
        var config = ibv_qp_open_attr.allocate(arena);
        ibv_qp_open_attr.comp_mask(
                config,
                rdma_h.IBV_QP_OPEN_ATTR_NUM()
                        | rdma_h.IBV_QP_OPEN_ATTR_XRCD()
                        | rdma_h.IBV_QP_OPEN_ATTR_TYPE());
        ibv_qp_open_attr.qp_num(config, number);
        ibv_qp_open_attr.xrcd(config, MemorySegment.ofAddress(in));
        ibv_qp_open_attr.qp_type(config, rdma_h.IBV_QPT_XRC_RECV());
        return config;
    }

    private static int queuePairNumber(long queuePair) {
        return ibv_qp.qp_num(CallerMemory.at(queuePair, ibv_qp.layout()));
    }

    private static void toError(long queuePair) {
        TestQueuePairStates.toInit(queuePair);
        TestQueuePairStates.toError(queuePair);
    }

    private int state(long queuePair) {
        var attr = ibv_qp_attr.allocate(arena);
        QueuePairExports.query(
                queuePair, attr.address(), 0, ibv_qp_init_attr.allocate(arena).address());
        return ibv_qp_attr.qp_state(attr);
    }

    // XRC domains

    @Test
    void shouldReportXrcAsADeviceCapability() {
        var attrs = ibv_device_attr.allocate(arena);
        DeviceExports.queryDevice(context, attrs.address());
        assertThat(ibv_device_attr.device_cap_flags(attrs) & rdma_h.IBV_DEVICE_XRC()).isNotZero();
        assertThat(ibv_xrcd.context(CallerMemory.at(extended, ibv_xrcd.layout())).address())
                .isEqualTo(context);
    }

    @Test
    void shouldCreateOrFindTheDomainOfAFileAccordingToTheFlags(@TempDir Path folder)
            throws Exception {
        var path = Files.createFile(folder.resolve("domain"));
        var link = Files.createLink(folder.resolve("link"), path);
        try (var _ = new FileInputStream(path.toFile());
                var _ = new FileInputStream(link.toFile())) {
            var one = descriptorOf(path);
            var two = descriptorOf(link);
            var otherContext = DeviceExports.openDevice(device.structure().address());

            assertRejected(Errno.EAGAIN, () -> openDomain(context, one, 0));
            var made = openDomain(context, one, CREATE | EXCLUSIVE);
            assertRejected(Errno.EINVAL, () -> openDomain(context, two, CREATE | EXCLUSIVE));
            var again = openDomain(context, two, CREATE);
            var joined = openDomain(otherContext, two, 0);

            assertThat(XrcDomainObject.of(again).domain())
                    .isSameAs(XrcDomainObject.of(made).domain())
                    .isSameAs(XrcDomainObject.of(joined).domain())
                    .isNotSameAs(XrcDomainObject.of(extended).domain());
            assertThat(XrcFunctions.closeDomain(made)).isZero();
            assertThat(XrcFunctions.closeDomain(again)).isZero();
            openDomain(context, two, 0);
            DeviceExports.closeDevice(otherContext);
        }
    }

    @Test
    void shouldForgetADomainWhenItsLastUserClosesIt(@TempDir Path folder) throws Exception {
        var path = Files.createFile(folder.resolve("domain"));
        try (var _ = new FileInputStream(path.toFile())) {
            var one = descriptorOf(path);
            XrcFunctions.closeDomain(openDomain(context, one, CREATE));

            assertRejected(Errno.EAGAIN, () -> openDomain(context, one, 0));
        }
    }

    /** Returns the file descriptor with which this process has opened a file. */
    private static int descriptorOf(Path file) throws IOException {
        try (var links = Files.list(Path.of("/proc/self/fd"))) {
            return links.filter(link -> isOf(file, link))
                    .mapToInt(link -> Integer.parseInt(link.getFileName().toString()))
                    .findAny()
                    .orElseThrow();
        }
    }

    private static boolean isOf(Path file, Path link) {
        try {
            return Files.readSymbolicLink(link).equals(file.toRealPath());
        } catch (IOException e) {
            return false; // The descriptor was closed.
        }
    }

    @Test
    void shouldCreateAPrivateDomainWithoutAFile() {
        var other = openDomain(context, NO_FILE, CREATE);

        assertThat(XrcDomainObject.of(other).domain())
                .isNotSameAs(XrcDomainObject.of(extended).domain());
    }

    @Test
    void shouldRejectInvalidDescriptorsAndMissingAttributes() {
        assertRejected(Errno.EBADF, () -> openDomain(context, NEVER_OPENED, CREATE));
        var config = ibv_xrcd_init_attr.allocate(arena);
        assertRejected(Errno.EINVAL, () -> XrcFunctions.openDomain(context, config.address()));
        ibv_xrcd_init_attr.comp_mask(config, rdma_h.IBV_XRCD_INIT_ATTR_RESERVED());
        assertRejected(Errno.EOPNOTSUPP, () -> XrcFunctions.openDomain(context, config.address()));
        assertRejected(Errno.EINVAL, () -> XrcFunctions.closeDomain(domain));
        assertThat(openDomain(context, STANDARD_INPUT, CREATE)).isNotZero();
    }

    @Test
    void shouldRejectTheCloseOfADomainInUse() {
        var queue = create(queueConfig());
        assertRejected(Errno.EBUSY, () -> XrcFunctions.closeDomain(extended));
        assertRejected(Errno.EBUSY, () -> CompletionExports.destroyQueue(completions));
        SharedReceiveQueueExports.destroy(queue);
        var receiver = createQueuePair(receiverConfig());
        assertRejected(Errno.EBUSY, () -> XrcFunctions.closeDomain(extended));
        QueuePairExports.destroy(receiver);

        assertThat(XrcFunctions.closeDomain(extended)).isZero();
        assertRejected(Errno.EINVAL, () -> XrcFunctions.closeDomain(extended));
    }

    // XRC receive queues

    @Test
    void shouldAssignNumbersToReceiveQueues() {
        var numbers = IntStream.range(0, 4).mapToObj(_ -> number(create(queueConfig()))).toList();

        assertThat(numbers).doesNotHaveDuplicates().allMatch(number -> number >>> 24 == 0);
    }

    @Test
    void shouldCreateAPlainSharedReceiveQueue() {
        var config = queueConfig();
        ibv_srq_init_attr_ex.comp_mask(config, rdma_h.IBV_SRQ_INIT_ATTR_PD());
        var untyped = create(config);
        ibv_srq_init_attr_ex.comp_mask(
                config, rdma_h.IBV_SRQ_INIT_ATTR_PD() | rdma_h.IBV_SRQ_INIT_ATTR_TYPE());
        ibv_srq_init_attr_ex.srq_type(config, rdma_h.IBV_SRQT_BASIC());
        var basic = create(config);

        for (var queue : List.of(untyped, basic)) {
            assertRejected(
                    Errno.EOPNOTSUPP,
                    () -> XrcFunctions.sharedQueueNumber(queue, arena.allocate(4).address()));
            assertThat(SharedReceiveQueueExports.destroy(queue)).isZero();
        }
    }

    @Test
    void shouldRejectQueuesWithMissingAttributesOrOfAnotherContext() {
        for (var missing :
                List.of(
                        rdma_h.IBV_SRQ_INIT_ATTR_PD(),
                        rdma_h.IBV_SRQ_INIT_ATTR_XRCD(),
                        rdma_h.IBV_SRQ_INIT_ATTR_CQ())) {
            var config = queueConfig();
            ibv_srq_init_attr_ex.comp_mask(
                    config, ibv_srq_init_attr_ex.comp_mask(config) & ~missing);
            assertRejected(Errno.EINVAL, () -> create(config));
        }
        var tagged = queueConfig();
        ibv_srq_init_attr_ex.srq_type(tagged, rdma_h.IBV_SRQT_TM());
        assertRejected(Errno.EOPNOTSUPP, () -> create(tagged));
        var otherContext = DeviceExports.openDevice(device.structure().address());
        var otherXrcd = queueConfig();
        ibv_srq_init_attr_ex.xrcd(
                otherXrcd, MemorySegment.ofAddress(openDomain(otherContext, NO_FILE, CREATE)));
        assertRejected(Errno.EINVAL, () -> create(otherXrcd));
        assertRejected(
                Errno.EINVAL,
                () -> XrcFunctions.createSharedQueue(otherContext, queueConfig().address()));
        DeviceExports.closeDevice(otherContext);
    }

    @Test
    void shouldRejectAnXrcReceiveQueueForAQueuePair() {
        var config = ibv_qp_init_attr.allocate(arena);
        ibv_qp_init_attr.qp_type(config, rdma_h.IBV_QPT_RC());
        ibv_qp_init_attr.send_cq(config, MemorySegment.ofAddress(completions));
        ibv_qp_init_attr.recv_cq(config, MemorySegment.ofAddress(completions));
        ibv_qp_init_attr.srq(config, MemorySegment.ofAddress(create(queueConfig())));

        assertRejected(Errno.EINVAL, () -> QueuePairExports.create(domain, config.address()));
    }

    // XRC queue pairs

    @Test
    void shouldCreateASenderAndAReceiver() {
        var config = senderConfig();
        var sender = createQueuePair(config);
        var receiver = createQueuePair(receiverConfig());
        var failed = arena.allocate(ValueLayout.JAVA_LONG).address();
        toError(sender);
        toError(receiver);

        assertThat(ibv_qp_cap.max_recv_wr(ibv_qp_init_attr.cap(config))).isZero();
        for (var queuePair : List.of(sender, receiver)) {
            assertThat(
                            DataPathFunctions.postReceive(
                                    queuePair, ibv_recv_wr.allocate(arena).address(), failed))
                    .isEqualTo(Errno.EINVAL);
        }
        var request = ibv_send_wr.allocate(arena);
        ibv_send_wr.opcode(request, rdma_h.IBV_WR_SEND());
        assertThat(DataPathFunctions.postSend(receiver, request.address(), failed))
                .isEqualTo(Errno.EINVAL);
        assertThat(DataPathFunctions.postSend(sender, request.address(), failed)).isZero();
        ibv_send_wr.qp_type.xrc.remote_srqn(
                ibv_send_wr.qp_type.xrc(ibv_send_wr.qp_type(request)), 1 << 24);
        assertThat(DataPathFunctions.postSend(sender, request.address(), failed))
                .isEqualTo(Errno.EINVAL);
    }

    @Test
    void shouldRejectQueuePairsWithMissingAttributesOrOfAnotherContext() {
        var noDomain = receiverConfig();
        ibv_qp_init_attr_ex.comp_mask(noDomain, 0);
        assertRejected(Errno.EINVAL, () -> createQueuePair(noDomain));
        var withOps = receiverConfig();
        ibv_qp_init_attr_ex.comp_mask(
                withOps, rdma_h.IBV_QP_INIT_ATTR_XRCD() | rdma_h.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS());
        assertRejected(Errno.EOPNOTSUPP, () -> createQueuePair(withOps));
        var unprotected = senderConfig();
        ibv_qp_init_attr_ex.comp_mask(unprotected, 0);
        assertRejected(Errno.EINVAL, () -> createQueuePair(unprotected));
        assertRejected(
                Errno.EINVAL, () -> QueuePairExports.create(domain, receiverConfig().address()));
        var otherContext = DeviceExports.openDevice(device.structure().address());
        assertRejected(
                Errno.EINVAL,
                () ->
                        ControlPathFunctions.createQueuePair(
                                otherContext, receiverConfig().address()));
        DeviceExports.closeDevice(otherContext);
    }

    @Test
    void shouldShareStateEventsAndLifetimeOfAnOpenedReceiver() {
        var made = createQueuePair(receiverConfig());
        var opened =
                XrcFunctions.openQueuePair(
                        context, openConfig(extended, queuePairNumber(made)).address());
        assertThat(opened).isNotEqualTo(made);
        assertThat(queuePairNumber(opened)).isEqualTo(queuePairNumber(made));

        toError(opened);
        assertThat(state(made)).isEqualTo(rdma_h.IBV_QPS_ERR());
        assertThat(QueuePairExports.destroy(made)).isZero();

        assertThat(state(opened)).isEqualTo(rdma_h.IBV_QPS_ERR());
        var number = queuePairNumber(opened);
        assertThat(QueuePairExports.destroy(opened)).isZero();
        assertRejected(
                Errno.EINVAL,
                () -> XrcFunctions.openQueuePair(context, openConfig(extended, number).address()));
        var event = ibv_async_event.allocate(arena);
        assertRejected(Errno.EAGAIN, () -> DeviceExports.getAsyncEvent(context, event.address()));
    }

    @Test
    void shouldRejectOpeningAnUnknownReceiver() {
        var number = queuePairNumber(createQueuePair(receiverConfig()));
        var other = openDomain(context, NO_FILE, CREATE);
        assertRejected(
                Errno.EINVAL,
                () -> XrcFunctions.openQueuePair(context, openConfig(other, number).address()));
        var wrongType = openConfig(extended, number);
        ibv_qp_open_attr.qp_type(wrongType, rdma_h.IBV_QPT_RC());
        assertRejected(
                Errno.EINVAL, () -> XrcFunctions.openQueuePair(context, wrongType.address()));
        var incomplete = openConfig(extended, number);
        ibv_qp_open_attr.comp_mask(incomplete, rdma_h.IBV_QP_OPEN_ATTR_NUM());
        assertRejected(
                Errno.EINVAL, () -> XrcFunctions.openQueuePair(context, incomplete.address()));
        var unknown = openConfig(extended, number);
        ibv_qp_open_attr.comp_mask(unknown, rdma_h.IBV_QP_OPEN_ATTR_RESERVED());
        assertRejected(
                Errno.EOPNOTSUPP, () -> XrcFunctions.openQueuePair(context, unknown.address()));
    }
}
