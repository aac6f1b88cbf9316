package org.jrdma.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jrdma.abi.rdma.ibv_ah;
import org.jrdma.abi.rdma.ibv_comp_channel;
import org.jrdma.abi.rdma.ibv_context;
import org.jrdma.abi.rdma.ibv_context_ops;
import org.jrdma.abi.rdma.ibv_cq;
import org.jrdma.abi.rdma.ibv_device;
import org.jrdma.abi.rdma.ibv_device_attr;
import org.jrdma.abi.rdma.ibv_gid_entry;
import org.jrdma.abi.rdma.ibv_mr;
import org.jrdma.abi.rdma.ibv_mw;
import org.jrdma.abi.rdma.ibv_port_attr;
import org.jrdma.abi.rdma.ibv_qp;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.ibv_send_wr;
import org.jrdma.abi.rdma.ibv_srq;
import org.jrdma.abi.rdma.ibv_wc;
import org.jrdma.abi.rdma.rdma_cm_event;
import org.jrdma.abi.rdma.rdma_cm_id;
import org.jrdma.abi.rdma.rdma_event_channel;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.LibraryProvider;
import org.jrdma.ffi.linkage.RaisableDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * A fake libibverbs with one device, and a fake librdmacm. Every call succeeds unless a test sets
 * another result. Send requests complete immediately, and no data is transferred.
 */
@SuppressWarnings("restricted")
final class FakeLibrary implements LibraryProvider {

    static final String DEVICE = "fake0";
    static final int NUMBER = 0x1234;
    static final int WINDOW_KEY = 0x8001_02fe;

    private static final MethodHandle CALL;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MemorySegment ERRNO_ADDRESS =
            LINKER.defaultLookup().findOrThrow("__errno_location");
    private static final MethodHandle ERRNO_LOCATION =
            LINKER.downcallHandle(
                    FunctionDescriptor.of(
                            ADDRESS.withTargetLayout(MemoryLayout.sequenceLayout(1, JAVA_INT))));

    static {
        try {
            CALL =
                    MethodHandles.lookup()
                            .findVirtual(
                                    FakeLibrary.class,
                                    "call",
                                    MethodType.methodType(
                                            Object.class, String.class, Object[].class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private record ConnectionChannel(
            RaisableDescriptor descriptor, ConcurrentLinkedQueue<MemorySegment> events) {}

    private record Answer(Object value, int errno) {}

    /** The names of the C functions that were called, in order. */
    final List<String> calls = Collections.synchronizedList(new ArrayList<>());

    private final Arena arena = Arena.global();
    private final Map<String, MemorySegment> stubs = new HashMap<>();
    private final Map<String, Answer> answers = new ConcurrentHashMap<>();
    private final Map<String, Integer> lateErrors = new ConcurrentHashMap<>();
    private final Map<String, Consumer<Object[]>> watchers = new ConcurrentHashMap<>();
    private final Set<String> missing = new HashSet<>();
    private final ConcurrentLinkedQueue<Long> completed = new ConcurrentLinkedQueue<>();
    private final AtomicInteger armed = new AtomicInteger();
    private final AtomicBoolean event = new AtomicBoolean();

    /** The event channels by their addresses, in the order of their creation. */
    private final Map<Long, ConnectionChannel> channels =
            Collections.synchronizedMap(new LinkedHashMap<>());

    /**
     * Maps the address of an rdma_cm_id to the event channel that it was created on or migrated to.
     * An rdma_cm_id without an entry, such as that of an incoming connection, uses the oldest event
     * channel.
     */
    private final Map<Long, ConnectionChannel> channelsOfIdentifiers = new ConcurrentHashMap<>();

    private final MemorySegment device = ibv_device.allocate(arena);
    private final MemorySegment context;
    private @Nullable RaisableDescriptor channel;
    private int devices = 1;
    private volatile int queuePairState;
    private volatile int linkLayer = rdma_h.IBV_LINK_LAYER_ETHERNET();

    FakeLibrary() {
        ibv_device.name(device).setString(0, DEVICE);
        ibv_device.dev_name(device).setString(0, "uverbs0");
        ibv_device.ibdev_path(device).setString(0, "/sys/class/infiniband/" + DEVICE);
        ibv_device.node_type(device, rdma_h.IBV_NODE_CA());
        var extended = verbs_context.allocate(arena);
        verbs_context.sz(extended, extended.byteSize());
        context = extended.asSlice(verbs_context.context$offset(), ibv_context.layout().byteSize());
        ibv_context.abi_compat(context, MemorySegment.ofAddress(-1));
        ibv_context.num_comp_vectors(context, 2);
        var ops = ibv_context.ops(context);
        var post = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        ops.set(ADDRESS, ibv_context_ops.post_send$offset(), stub("post_send", post));
        ops.set(ADDRESS, ibv_context_ops.post_recv$offset(), stub("post_recv", post));
        ops.set(ADDRESS, ibv_context_ops.post_srq_recv$offset(), stub("post_srq_recv", post));
        ops.set(
                ADDRESS,
                ibv_context_ops.alloc_mw$offset(),
                stub("alloc_mw", ibv_context_ops.alloc_mw.descriptor()));
        ops.set(ADDRESS, ibv_context_ops.bind_mw$offset(), stub("bind_mw", post));
        ops.set(
                ADDRESS,
                ibv_context_ops.dealloc_mw$offset(),
                stub("dealloc_mw", ibv_context_ops.dealloc_mw.descriptor()));
        ops.set(
                ADDRESS,
                ibv_context_ops.poll_cq$offset(),
                stub("poll_cq", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG)));
        ops.set(
                ADDRESS,
                ibv_context_ops.req_notify_cq$offset(),
                stub("req_notify_cq", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT)));
    }

    /** Removes the device from the device list. */
    FakeLibrary withoutDevices() {
        devices = 0;
        return this;
    }

    /** Makes the library lack a function, like an older version of the library. */
    FakeLibrary without(String symbol) {
        missing.add(symbol);
        return this;
    }

    /** Sets the result and the errno of all later calls of a function. */
    FakeLibrary answer(String symbol, Object value, int errno) {
        answers.put(symbol, new Answer(value, errno));
        return this;
    }

    /** Lets a function return an error after it has done its work. */
    FakeLibrary failLate(String symbol, int errno) {
        lateErrors.put(symbol, errno);
        return this;
    }

    /** Lets a function that posts reject the first request of each call. */
    FakeLibrary rejectPosts(String symbol, int errno) {
        return answer(symbol, errno, 0)
                .onCall(
                        symbol,
                        arguments ->
                                memory(arguments[2], Long.BYTES)
                                        .set(ValueLayout.JAVA_LONG, 0, (long) arguments[1]));
    }

    /**
     * Removes the result that {@link #answer} has set, so that calls of the function succeed again.
     */
    FakeLibrary resetAnswer(String symbol) {
        answers.remove(symbol);
        return this;
    }

    /**
     * Sets a callback that gets the arguments of all later calls of a function. It must not throw.
     */
    FakeLibrary onCall(String symbol, Consumer<Object[]> watcher) {
        watchers.put(symbol, watcher);
        return this;
    }

    /** Sets the link layer of the port. */
    FakeLibrary linkLayer(int layer) {
        linkLayer = layer;
        return this;
    }

    /** Sets the transport type of the device. */
    FakeLibrary transport(int transport) {
        ibv_device.transport_type(device, transport);
        return this;
    }

    /** Sets the state that queries of queue pairs return. */
    FakeLibrary queuePairState(int state) {
        queuePairState = state;
        return this;
    }

    /**
     * Returns the {@code struct verbs_context} that contains the {@code ibv_context} of the device.
     */
    MemorySegment extendedContext() {
        return MemorySegment.ofAddress(context.address() - verbs_context.context$offset())
                .reinterpret(verbs_context.layout().byteSize());
    }

    MemorySegment context() {
        return context;
    }

    MemorySegment device() {
        return device;
    }

    @Override
    public String name() {
        return "fake-verbs";
    }

    @Override
    public SymbolLookup symbols() {
        return symbol -> {
            if (missing.contains(symbol)) {
                return Optional.empty();
            }
            try {
                var descriptor = rdma_h.class.getMethod(symbol + "$descriptor").invoke(null);
                return Optional.of(stub(symbol, (FunctionDescriptor) descriptor));
            } catch (ReflectiveOperationException _) {
                return Optional.empty();
            }
        };
    }

    /**
     * Delivers an event of the connection manager to the event channel of its identifier. A connect
     * request is delivered to the event channel of its listener.
     */
    void deliver(MemorySegment rdmaEvent) {
        var owner =
                rdma_cm_event.listen_id(rdmaEvent).address() != 0
                        ? rdma_cm_event.listen_id(rdmaEvent)
                        : rdma_cm_event.id(rdmaEvent);
        var target =
                channelsOfIdentifiers.getOrDefault(
                        owner.address(), channels.values().iterator().next());
        synchronized (target) {
            target.events.add(rdmaEvent);
            target.descriptor.raise();
        }
    }

    /** Returns a function pointer to the fake implementation of {@code symbol}. */
    MemorySegment stub(String symbol, FunctionDescriptor descriptor) {
        return stubs.computeIfAbsent(
                symbol,
                _ -> {
                    var type = descriptor.toMethodType();
                    var target =
                            MethodHandles.insertArguments(CALL, 0, this, symbol)
                                    .asCollector(Object[].class, type.parameterCount())
                                    .asType(type);
                    return LINKER.upcallStub(target, descriptor, arena);
                });
    }

    /** The target of every stub. An exception that leaves this method would terminate the JVM. */
    @SuppressWarnings("UnusedMethod") // called through CALL
    private Object call(String symbol, Object[] arguments) throws Throwable {
        calls.add(symbol);
        watchers.getOrDefault(symbol, _ -> {}).accept(arguments);
        var answer = answers.get(symbol);
        if (answer == null) {
            answer = succeed(symbol, arguments);
            if (lateErrors.containsKey(symbol)) {
                answer = success(lateErrors.get(symbol));
            }
        }
        ((MemorySegment) ERRNO_LOCATION.invokeExact(ERRNO_ADDRESS)).set(JAVA_INT, 0, answer.errno);
        return answer.value;
    }

    private Answer succeed(String symbol, Object[] arguments) throws FabricException {
        return switch (symbol) {
            case "ibv_get_device_list" -> {
                memory(arguments[0], 4).set(JAVA_INT, 0, devices);
                var list = arena.allocate(ADDRESS, 2);
                list.set(ADDRESS, 0, device);
                yield success(list);
            }
            case "rdma_create_event_channel" -> {
                var created = rdma_event_channel.allocate(arena);
                var descriptor = RaisableDescriptor.open();
                rdma_event_channel.fd(created, descriptor.number());
                channels.put(
                        created.address(),
                        new ConnectionChannel(descriptor, new ConcurrentLinkedQueue<>()));
                yield success(created);
            }
            case "rdma_create_id" -> {
                var created = rdma_cm_id.allocate(arena);
                channelsOfIdentifiers.put(created.address(), channelAt(arguments[0]));
                memory(arguments[1], ADDRESS.byteSize()).set(ADDRESS, 0, created);
                yield success(0);
            }
            case "rdma_migrate_id" -> {
                var newChannel = channelAt(arguments[1]);
                if (newChannel != null) {
                    channelsOfIdentifiers.put(memory(arguments[0], 1).address(), newChannel);
                }
                yield success(0);
            }
            case "rdma_get_cm_event" -> {
                var polled = channelAt(arguments[0]);
                synchronized (polled) {
                    var next = polled.events.poll();
                    if (next == null) {
                        polled.descriptor.lower();
                        yield new Answer(-1, Errno.EAGAIN);
                    }
                    memory(arguments[1], ADDRESS.byteSize()).set(ADDRESS, 0, next);
                }
                yield success(0);
            }
            case "rdma_destroy_event_channel" -> success("");
            case "ibv_free_device_list", "ibv_ack_cq_events", "ibv_ack_async_event" -> success("");
            case "ibv_get_device_guid" -> success(bigEndian(0x5054_00ff_fe12_3456L));
            case "ibv_open_device" -> {
                ibv_context.async_fd(context, RaisableDescriptor.open().number());
                yield success(context);
            }
            case "ibv_query_device" -> {
                var attributes = memory(arguments[1], ibv_device_attr.layout().byteSize());
                ibv_device_attr.phys_port_cnt(attributes, (byte) 1);
                ibv_device_attr.max_qp_rd_atom(attributes, 16);
                ibv_device_attr.max_qp_init_rd_atom(attributes, 16);
                yield success(0);
            }
            case "ibv_query_port" -> {
                var attributes = memory(arguments[2], ibv_port_attr.layout().byteSize());
                ibv_port_attr.state(attributes, rdma_h.IBV_PORT_ACTIVE());
                ibv_port_attr.max_mtu(attributes, rdma_h.IBV_MTU_4096());
                ibv_port_attr.active_mtu(attributes, rdma_h.IBV_MTU_1024());
                ibv_port_attr.link_layer(attributes, (byte) linkLayer);
                ibv_port_attr.gid_tbl_len(attributes, 1);
                ibv_port_attr.pkey_tbl_len(attributes, (short) 1);
                yield success(0);
            }
            case "_ibv_query_gid_table" -> {
                var entry = memory(arguments[1], ibv_gid_entry.layout().byteSize());
                ibv_gid_entry.gid_type(entry, rdma_h.IBV_GID_TYPE_ROCE_V2());
                ibv_gid_entry.port_num(entry, 1);
                ibv_gid_entry.gid(entry).set(JAVA_LONG, 8, bigEndian(0xffff_0a4d_0001L));
                yield success(1L);
            }
            case "ibv_create_ah" -> success(ibv_ah.allocate(arena));
            case "ibv_get_async_event" -> new Answer(-1, Errno.EAGAIN);
            case "ibv_alloc_pd" -> success(arena.allocate(64));
            case "ibv_reg_mr", "ibv_reg_mr_iova2" -> success(ibv_mr.allocate(arena));
            case "alloc_mw" -> {
                var window = ibv_mw.allocate(arena);
                ibv_mw.rkey(window, WINDOW_KEY);
                yield success(window);
            }
            case "ibv_create_comp_channel" -> {
                channel = RaisableDescriptor.open();
                var created = ibv_comp_channel.allocate(arena);
                ibv_comp_channel.fd(created, channel.number());
                yield success(created);
            }
            case "ibv_create_cq" -> success(ibv_cq.allocate(arena));
            case "ibv_create_qp" -> {
                var queuePair = ibv_qp.allocate(arena);
                ibv_qp.qp_num(queuePair, NUMBER);
                yield success(queuePair);
            }
            case "ibv_create_srq" -> success(ibv_srq.allocate(arena));
            case "ibv_query_qp" -> {
                var attributes = memory(arguments[1], ibv_qp_attr.layout().byteSize());
                ibv_qp_attr.qp_state(attributes, queuePairState);
                yield success(0);
            }
            case "ibv_get_cq_event" -> {
                if (!event.compareAndSet(true, false)) {
                    yield new Answer(-1, Errno.EAGAIN);
                }
                channel.lower();
                yield success(0);
            }
            case "req_notify_cq" -> {
                armed.set(1);
                yield success(0);
            }
            case "post_send" -> {
                var request =
                        MemorySegment.ofAddress((long) arguments[1])
                                .reinterpret(ibv_send_wr.layout().byteSize());
                completed.add(ibv_send_wr.wr_id(request));
                if (channel != null && armed.compareAndSet(1, 0)) {
                    channel.raise();
                    event.set(true);
                }
                yield success(0);
            }
            case "poll_cq" -> success(poll((int) arguments[1], (long) arguments[2]));
            default -> success(0);
        };
    }

    private int poll(int capacity, long address) {
        var completions =
                MemorySegment.ofAddress(address).reinterpret(capacity * ibv_wc.layout().byteSize());
        var count = 0;
        while (count < capacity) {
            var number = completed.poll();
            if (number == null) {
                break;
            }
            var completion = ibv_wc.asSlice(completions, count++);
            completion.fill((byte) 0);
            ibv_wc.wr_id(completion, number);
            ibv_wc.opcode(completion, rdma_h.IBV_WC_RDMA_WRITE());
        }
        return count;
    }

    private @Nullable ConnectionChannel channelAt(Object pointer) {
        return channels.get(memory(pointer, 1).address());
    }

    private static Answer success(Object value) {
        return new Answer(value, 0);
    }

    /** Returns the memory to which an argument points. */
    static MemorySegment memory(Object pointer, long bytes) {
        var start =
                pointer instanceof Long address
                        ? MemorySegment.ofAddress(address)
                        : (MemorySegment) pointer;
        return start.reinterpret(bytes);
    }

    static int bigEndian(int value) {
        return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN
                ? value
                : Integer.reverseBytes(value);
    }

    private static long bigEndian(long value) {
        return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? value : Long.reverseBytes(value);
    }
}
