package org.jrdma.soft.roce.abi.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.jrdma.soft.roce.abi.ExportedFunctionTestSupport.assertRejected;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.rdma_addr;
import org.jrdma.abi.rdma.rdma_addrinfo;
import org.jrdma.abi.rdma.rdma_cm_event;
import org.jrdma.abi.rdma.rdma_cm_id;
import org.jrdma.abi.rdma.rdma_cm_join_mc_attr_ex;
import org.jrdma.abi.rdma.rdma_conn_param;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.rdma_route;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.CapturedErrno;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.ExportedFunctionTestSupport;
import org.jrdma.soft.roce.abi.GidCodec;
import org.jrdma.soft.roce.abi.verbs.ContextObject;
import org.jrdma.soft.roce.abi.verbs.DeviceExports;
import org.jrdma.soft.roce.abi.verbs.DeviceObject;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the functions of librdmacm as a C program calls them. */
class ConnectionExportsTest {

    private static final int TCP = rdma_h.RDMA_PS_TCP();
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final Arena arena = Arena.ofConfined();
    private final DeviceObject one = ExportedFunctionTestSupport.newDevice();
    private final DeviceObject other = ExportedFunctionTestSupport.newDevice();
    private final ConnectionExports library = new ConnectionExports(List.of(one, other));
    private long context;
    private long otherContext;
    private long channel;

    @BeforeEach
    void open() {
        context = DeviceExports.openDevice(one.structure().address());
        otherContext = DeviceExports.openDevice(other.structure().address());
        channel = library.createChannel();
    }

    @AfterEach
    void close() {
        library.destroyChannel(channel);
        DeviceExports.closeDevice(context);
        DeviceExports.closeDevice(otherContext);
        assertThat(List.of(one, other)).allMatch(device -> device.address() == null);
        arena.close();
    }

    private static RoceGid address(long context) {
        return ContextObject.of(context).port().address();
    }

    private long identifier() {
        return identifier(TCP);
    }

    private long identifier(int portSpace) {
        var target = arena.allocate(ValueLayout.ADDRESS);
        library.createIdentifier(channel, target.address(), 42, portSpace);
        return target.get(ValueLayout.ADDRESS, 0).address();
    }

    private static MemorySegment structure(long identifier) {
        return CallerMemory.at(identifier, rdma_cm_id.layout());
    }

    /** Returns the local address and port of an rdma_cm_id. */
    private static SocketName own(long identifier) {
        return SocketName.read(
                rdma_addr
                        .src_storage(rdma_route.addr(rdma_cm_id.route(structure(identifier))))
                        .address());
    }

    /** Returns a pointer to a socket address. */
    private long name(RoceGid address, int port) {
        var memory = arena.allocate(128);
        new SocketName(address, port).write(memory);
        return memory.address();
    }

    /** Creates an rdma_cm_id that listens at an address and a free port. */
    private long listener(RoceGid address) {
        var listener = identifier();
        library.bind(listener, name(address, 0));
        library.listen(listener, 4);
        return listener;
    }

    /**
     * Creates an rdma_cm_id with a route to a listener.
     *
     * @param from a pointer to the local socket address, or 0 for any
     * @param port the listener's port
     */
    private long routed(long from, RoceGid to, int port) {
        var identifier = identifier();
        library.resolveAddress(identifier, from, name(to, port), 100);
        library.acknowledge(event(rdma_h.RDMA_CM_EVENT_ADDR_RESOLVED(), identifier));
        library.resolveRoute(identifier, 100);
        library.acknowledge(event(rdma_h.RDMA_CM_EVENT_ROUTE_RESOLVED(), identifier));
        return identifier;
    }

    private long parameters(int queuePair) {
        var parameters = rdma_conn_param.allocate(arena);
        rdma_conn_param.qp_num(parameters, queuePair);
        rdma_conn_param.responder_resources(parameters, (byte) 0xff);
        rdma_conn_param.retry_count(parameters, (byte) 0xff);
        return parameters.address();
    }

    /**
     * Waits for the next event and returns it.
     *
     * @param type the type that the event must have
     * @param identifier the rdma_cm_id that the event must refer to, or 0 for any
     */
    private long event(int type, long identifier) {
        var found = next();
        var event = CallerMemory.at(found, rdma_cm_event.layout());
        assertThat(rdma_cm_event.event(event)).isEqualTo(type);
        if (identifier != 0) {
            assertThat(rdma_cm_event.id(event).address()).isEqualTo(identifier);
        }
        return found;
    }

    /** Waits for the next event and returns it. */
    private long next() {
        var target = arena.allocate(ValueLayout.ADDRESS);
        var deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (true) {
            try {
                library.takeEvent(channel, target.address());
                return target.get(ValueLayout.ADDRESS, 0).address();
            } catch (ErrnoException e) {
                assertThat(e.errno()).isEqualTo(Errno.EAGAIN);
                assertThat(System.nanoTime()).isLessThan(deadline);
                Thread.onSpinWait();
            }
        }
    }

    /** Waits for a connect request and returns the rdma_cm_id that was created for it. */
    private long request(long listener) {
        var event = event(rdma_h.RDMA_CM_EVENT_CONNECT_REQUEST(), 0);
        var structure = CallerMemory.at(event, rdma_cm_event.layout());
        assertThat(rdma_cm_event.listen_id(structure).address()).isEqualTo(listener);
        var made = rdma_cm_event.id(structure).address();
        library.acknowledge(event);
        return made;
    }

    private void destroy(long... identifiers) {
        for (var identifier : identifiers) {
            library.destroyIdentifier(identifier);
        }
    }

    @Test
    void shouldConnectFromTheBoundDeviceToAnother() {
        var listener = listener(address(otherContext));
        var caller = routed(name(address(context), 0), address(otherContext), own(listener).port());
        assertThat(rdma_cm_id.context(structure(caller)).address()).isEqualTo(42);
        assertThat(own(caller).address()).isEqualTo(address(context));
        library.connect(caller, parameters(17));
        var called = request(listener);

        library.accept(called, parameters(34));
        library.acknowledge(event(rdma_h.RDMA_CM_EVENT_CONNECT_RESPONSE(), caller));
        var attributes = ibv_qp_attr.allocate(arena);
        ibv_qp_attr.qp_state(attributes, rdma_h.IBV_QPS_RTR());
        library.initialize(caller, attributes.address(), arena.allocate(4).address());
        assertThat(ibv_qp_attr.dest_qp_num(attributes)).isEqualTo(34);
        assertThat(GidCodec.destination(ibv_qp_attr.ah_attr(attributes)))
                .isEqualTo(address(otherContext));
        library.establish(caller);
        library.acknowledge(event(rdma_h.RDMA_CM_EVENT_ESTABLISHED(), called));
        destroy(caller);
        library.acknowledge(event(rdma_h.RDMA_CM_EVENT_DISCONNECTED(), called));

        destroy(called, listener);
    }

    @Test
    void shouldListenOnAllDevicesForTheWildcardAddress() {
        var listener = listener(RoceGid.ipv4(0));
        assertThat(rdma_cm_id.verbs(structure(listener)).address()).isZero();
        for (var target : List.of(address(context), address(otherContext))) {
            var caller = routed(0, target, own(listener).port());
            library.connect(caller, parameters(17));

            var called = request(listener);

            assertThat(own(called)).isEqualTo(new SocketName(target, own(listener).port()));
            destroy(called, caller);
        }
        destroy(listener);
    }

    @Test
    void shouldOpenTheDeviceWithTheAddress() {
        DeviceExports.closeDevice(context);
        var identifier = identifier();
        var chosen = RoceGid.ipv4(127 << 24 | 77 << 8 | 200);

        library.bind(identifier, name(chosen, 0));

        assertThat(one.address()).isEqualTo(chosen);
        assertThat(rdma_cm_id.verbs(structure(identifier)).address()).isNotZero();
        destroy(identifier);
        assertThat(one.address()).isNull();
        context = DeviceExports.openDevice(one.structure().address());
    }

    @Test
    void shouldListenOnAllDevicesOrOnNone() {
        DeviceExports.closeDevice(otherContext);
        var taken =
                new DeviceObject(
                        "taken",
                        List.of(address(context)),
                        NetworkFaults.NONE,
                        null,
                        true,
                        new SecureRandom());
        var second = new ConnectionExports(List.of(other, taken));
        var target = arena.allocate(ValueLayout.ADDRESS);
        second.createIdentifier(channel, target.address(), 0, TCP);
        var listener = target.get(ValueLayout.ADDRESS, 0).address();

        assertRejected(Errno.EADDRINUSE, () -> second.listen(listener, 1));

        assertThat(other.address()).isNull();
        second.destroyIdentifier(listener);
        otherContext = DeviceExports.openDevice(other.structure().address());
    }

    @Test
    void shouldRejectAddressesThatNoDeviceHas() {
        var identifier = identifier();
        var external = RoceGid.ipv4(0xc000_0201);
        assertRejected(Errno.ENODEV, () -> library.bind(identifier, name(external, 0)));
        assertRejected(
                Errno.ENODEV,
                () -> library.resolveAddress(identifier, name(external, 0), name(external, 7), 1));
        assertRejected(Errno.EINVAL, () -> library.bind(identifier, 0));
        var unknown = arena.allocate(128); // An invalid address family.
        assertRejected(Errno.EAFNOSUPPORT, () -> library.bind(identifier, unknown.address()));
        library.bind(identifier, name(RoceGid.ipv4(0), 0));
        assertRejected(
                Errno.EINVAL,
                () -> library.resolveAddress(identifier, 0, name(new RoceGid(0, 1), 7), 1));
        destroy(identifier);
    }

    @Test
    void shouldRejectCallsInTheWrongState() {
        var identifier = identifier();
        var attributes = ibv_qp_attr.allocate(arena).address();
        assertRejected(Errno.EINVAL, () -> library.resolveRoute(identifier, 1));
        assertRejected(Errno.EINVAL, () -> library.connect(identifier, parameters(1)));
        assertRejected(Errno.EINVAL, () -> library.accept(identifier, parameters(1)));
        assertRejected(Errno.EINVAL, () -> library.establish(identifier));
        assertRejected(Errno.EINVAL, () -> library.reject(identifier, 0, (byte) 0));
        assertRejected(Errno.EINVAL, () -> library.disconnect(identifier));
        assertRejected(Errno.EINVAL, () -> library.notifyEvent(identifier, 0));
        assertRejected(Errno.EINVAL, () -> library.initialize(identifier, attributes, attributes));
        library.bind(identifier, name(address(context), 0));
        assertRejected(Errno.EINVAL, () -> library.bind(identifier, name(address(context), 0)));
        assertRejected(Errno.EINVAL, () -> library.disconnect(identifier));
        library.listen(identifier, 0);
        assertRejected(Errno.EINVAL, () -> library.listen(identifier, 0));
        destroy(identifier);
    }

    @Test
    void shouldRejectInvalidParameters() {
        var listener = listener(address(context));
        var caller = routed(0, address(context), own(listener).port());
        var parameters = rdma_conn_param.allocate(arena);
        assertRejected(Errno.EINVAL, () -> library.connect(caller, 0));
        rdma_conn_param.responder_resources(parameters, (byte) (DeviceLimits.MAX_READS + 1));
        assertRejected(Errno.EINVAL, () -> library.connect(caller, parameters.address()));
        rdma_conn_param.responder_resources(parameters, (byte) 1);
        rdma_conn_param.private_data(parameters, arena.allocate(57));
        rdma_conn_param.private_data_len(parameters, (byte) 57);
        assertRejected(Errno.EINVAL, () -> library.connect(caller, parameters.address()));
        destroy(caller, listener);
    }

    /** The same link-local address may be assigned to several interfaces. */
    @Test
    void shouldRequireTheInterfaceOfALinkLocalAddress() {
        var linkLocal = new RoceGid(0xfe80L << 48, 0x1234);
        var memory = arena.allocate(128);
        new SocketName(linkLocal, 7, 3).write(memory);
        assertThat(SocketName.read(memory.address())).isEqualTo(new SocketName(linkLocal, 7, 3));
        new SocketName(new RoceGid(0xfd78L << 48, 1), 7, 3).write(memory);
        assertThat(SocketName.read(memory.address()).scope()).isZero();

        var identifier = identifier();
        assertRejected(
                Errno.EINVAL, () -> library.resolveAddress(identifier, 0, name(linkLocal, 7), 100));
        destroy(identifier);
    }

    @Test
    void shouldRejectUnsupportedPortSpacesAndOptions() {
        assertRejected(Errno.EPROTONOSUPPORT, () -> identifier(7));
        assertRejected(Errno.EINVAL, () -> library.createIdentifier(0, 0, 0, TCP));
        var identifier = identifier(rdma_h.RDMA_PS_UDP());
        var value = arena.allocate(4).address();
        var id = rdma_h.RDMA_OPTION_ID();
        assertRejected(
                Errno.ENOSYS,
                () ->
                        library.setOption(
                                identifier,
                                rdma_h.RDMA_OPTION_IB(),
                                rdma_h.RDMA_OPTION_IB_PATH(),
                                value,
                                4));
        assertRejected(Errno.ENOSYS, () -> library.setOption(identifier, id, 99, value, 4));
        var timeout = rdma_h.RDMA_OPTION_ID_ACK_TIMEOUT();
        assertRejected(Errno.EINVAL, () -> library.setOption(identifier, id, timeout, value, 1));
        var service = rdma_h.RDMA_OPTION_ID_TOS();
        assertRejected(Errno.EINVAL, () -> library.setOption(identifier, id, service, value, 4));
        assertRejected(Errno.EINVAL, () -> library.setOption(identifier, id, service, 0, 1));
        library.bind(identifier, name(address(context), 0));
        var reuse = rdma_h.RDMA_OPTION_ID_REUSEADDR();
        assertRejected(Errno.EINVAL, () -> library.setOption(identifier, id, reuse, value, 4));
        destroy(identifier);
    }

    /** The packets of both directions must have the same priority. */
    @Test
    void shouldUseTheRequestedTrafficClassAtTheAcceptingSide() {
        var listener = listener(address(otherContext));
        var caller = routed(name(address(context), 0), address(otherContext), own(listener).port());
        var value = arena.allocateFrom(ValueLayout.JAVA_BYTE, (byte) 104).address();
        library.setOption(caller, rdma_h.RDMA_OPTION_ID(), rdma_h.RDMA_OPTION_ID_TOS(), value, 1);
        library.connect(caller, parameters(17));
        var called = request(listener);

        var attributes = ibv_qp_attr.allocate(arena);
        ibv_qp_attr.qp_state(attributes, rdma_h.IBV_QPS_RTR());
        library.initialize(called, attributes.address(), arena.allocate(4).address());

        assertThat(GidCodec.flow(ibv_qp_attr.ah_attr(attributes))).isEqualTo(104 << 20);
        destroy(caller, called, listener);
    }

    private long info(int flags, int portSpace, int type, long name) {
        var info = rdma_addrinfo.allocate(arena);
        rdma_addrinfo.ai_flags(info, flags);
        rdma_addrinfo.ai_port_space(info, portSpace);
        rdma_addrinfo.ai_qp_type(info, type);
        rdma_addrinfo.ai_src_addr(info, MemorySegment.ofAddress(name));
        return info.address();
    }

    @Test
    void shouldRejectUnsupportedEndpointsAndReleaseTheirChannel() {
        var passive = rdma_h.RAI_PASSIVE();
        var target = arena.allocate(ValueLayout.ADDRESS);
        var own = name(address(context), 0);
        var reliable = rdma_h.IBV_QPT_RC();
        for (var invalid :
                List.of(
                        info(passive, TCP, rdma_h.IBV_QPT_UC(), own),
                        info(passive, rdma_h.RDMA_PS_UDP(), reliable, own),
                        info(passive, rdma_h.RDMA_PS_IB(), rdma_h.IBV_QPT_RAW_PACKET(), own),
                        info(passive, TCP, reliable, 0))) {
            assertRejected(
                    Errno.EINVAL, () -> library.createEndpoint(target.address(), invalid, 0, 0));
        }
        var external = name(RoceGid.ipv4(0xc000_0201), 0);
        assertRejected(
                Errno.ENODEV,
                () ->
                        library.createEndpoint(
                                target.address(), info(passive, TCP, reliable, external), 0, 0));
        assertRejected(
                Errno.EOPNOTSUPP,
                () -> library.createEndpoint(target.address(), info(0, TCP, reliable, own), 0, 0));
        library.createEndpoint(target.address(), info(passive, TCP, reliable, own), 0, 0);
        var made = target.get(ValueLayout.ADDRESS, 0).address();
        var ownChannel = rdma_cm_id.channel(structure(made)).address();
        library.migrate(made, channel);
        assertRejected(Errno.EINVAL, () -> EventChannelObject.of(ownChannel));
        destroy(made);
    }

    @Test
    void shouldRejectALookupWithoutANameAndService() {
        var target = arena.allocate(ValueLayout.ADDRESS).address();
        var port = arena.allocateFrom("65536").address();
        assertRejected(Errno.EINVAL, () -> AddressInfoExports.lookUp(0, 0, 0, target));
        assertRejected(
                AddressInfoExports.NO_SERVICE, () -> AddressInfoExports.lookUp(0, port, 0, target));
        AddressInfoExports.free(0);
    }

    /** Name resolution may take a long time and must not block other calls. */
    @Test
    void shouldResolveNamesOnASeparateThread() {
        var tasks = new ArrayDeque<Runnable>();
        var second = new ConnectionExports(List.of(one, other), tasks::add);
        var target = arena.allocate(ValueLayout.ADDRESS);
        second.createIdentifier(channel, target.address(), 0, TCP);
        var identifier = target.get(ValueLayout.ADDRESS, 0).address();
        var known = arena.allocateFrom("localhost").address();
        var unknown = arena.allocateFrom("[no name").address();
        var port = arena.allocateFrom("7").address();

        second.lookUp(identifier, unknown, port, 0);
        assertRejected(Errno.EBUSY, () -> second.lookUp(identifier, known, port, 0));
        assertRejected(Errno.EAGAIN, () -> library.takeEvent(channel, target.address()));
        tasks.remove().run();
        library.acknowledge(event(rdma_h.RDMA_CM_EVENT_ADDRINFO_ERROR(), identifier));

        second.lookUp(identifier, known, port, 0);
        tasks.remove().run();
        library.acknowledge(event(rdma_h.RDMA_CM_EVENT_ADDRINFO_RESOLVED(), identifier));
        second.takeAddressInfo(identifier, target.address());
        AddressInfoExports.free(target.get(ValueLayout.ADDRESS, 0).address());

        second.lookUp(identifier, known, port, 0);
        second.destroyIdentifier(identifier);
        tasks.remove().run();
        assertRejected(Errno.EAGAIN, () -> library.takeEvent(channel, target.address()));
    }

    /**
     * The timeout would have no effect without acknowledgements. The kernel also rejects the option
     * for unreliable transports.
     */
    @Test
    void shouldRejectAnAcknowledgeTimeoutForAnUnacknowledgedTransport() {
        var target = arena.allocate(ValueLayout.ADDRESS);
        var value = arena.allocateFrom(ValueLayout.JAVA_BYTE, (byte) 14).address();
        var own = name(address(context), 0);
        var timeout = rdma_h.RDMA_OPTION_ID_ACK_TIMEOUT();
        for (var type :
                new int[] {
                    rdma_h.IBV_QPT_RC(),
                    rdma_h.IBV_QPT_XRC_SEND(),
                    rdma_h.IBV_QPT_UC(),
                    rdma_h.IBV_QPT_UD(),
                    rdma_h.IBV_QPT_XRC_RECV()
                }) {
            var info = info(rdma_h.RAI_PASSIVE(), rdma_h.RDMA_PS_IB(), type, own);
            library.createEndpoint(target.address(), info, 0, 0);
            var made = target.get(ValueLayout.ADDRESS, 0).address();
            ThrowingCallable setting =
                    () -> library.setOption(made, rdma_h.RDMA_OPTION_ID(), timeout, value, 1);
            if (type == rdma_h.IBV_QPT_RC() || type == rdma_h.IBV_QPT_XRC_SEND()) {
                assertThatCode(setting).doesNotThrowAnyException();
            } else {
                assertRejected(Errno.EINVAL, setting);
            }
            destroy(made);
        }
    }

    @Test
    void shouldRejectInvalidMulticastGroups() {
        var datagrams = identifier(rdma_h.RDMA_PS_UDP());
        var group = name(RoceGid.ipv4(0xef01_0203), 0);
        // The identifier is not bound to a device yet.
        assertRejected(Errno.EINVAL, () -> library.join(datagrams, group, 1));
        library.bind(datagrams, name(address(context), 0));
        var unicast = name(RoceGid.ipv4(0xc000_0201), 0);
        assertRejected(Errno.EINVAL, () -> library.join(datagrams, unicast, 1));
        assertRejected(Errno.EINVAL, () -> library.join(datagrams, name(new RoceGid(-1, 1), 0), 1));
        assertRejected(Errno.EADDRNOTAVAIL, () -> library.leave(datagrams, group));
        var connected = identifier();
        library.bind(connected, name(address(context), 0));
        assertRejected(Errno.EINVAL, () -> library.join(connected, group, 1));
        var attributes = rdma_cm_join_mc_attr_ex.allocate(arena);
        rdma_cm_join_mc_attr_ex.addr(attributes, MemorySegment.ofAddress(group));
        rdma_cm_join_mc_attr_ex.comp_mask(attributes, rdma_h.RDMA_CM_JOIN_MC_ATTR_ADDRESS());
        assertRejected(Errno.EINVAL, () -> library.joinAs(datagrams, attributes.address(), 1));
        rdma_cm_join_mc_attr_ex.comp_mask(attributes, rdma_h.RDMA_CM_JOIN_MC_ATTR_RESERVED());
        assertRejected(Errno.EOPNOTSUPP, () -> library.joinAs(datagrams, attributes.address(), 1));
        rdma_cm_join_mc_attr_ex.comp_mask(attributes, rdma_h.RDMA_CM_JOIN_MC_ATTR_RESERVED() - 1);
        rdma_cm_join_mc_attr_ex.join_flags(attributes, rdma_h.RDMA_MC_JOIN_FLAG_RESERVED());
        assertRejected(Errno.EINVAL, () -> library.joinAs(datagrams, attributes.address(), 1));
        destroy(datagrams, connected);
    }

    @Test
    void shouldShareAPortWithReuseAddressUntilAnIdentifierListens() {
        var first = identifier();
        var second = identifier();
        var enable = arena.allocateFrom(ValueLayout.JAVA_INT, 1).address();
        var reuse = rdma_h.RDMA_OPTION_ID_REUSEADDR();
        library.setOption(first, rdma_h.RDMA_OPTION_ID(), reuse, enable, 4);
        library.bind(first, name(address(context), 0));
        var taken = name(address(context), own(first).port());
        assertRejected(Errno.EADDRINUSE, () -> library.bind(second, taken));
        library.setOption(second, rdma_h.RDMA_OPTION_ID(), reuse, enable, 4);
        library.bind(second, taken);
        assertRejected(Errno.EADDRINUSE, () -> library.listen(first, 1));
        destroy(first);
        library.listen(second, 1);
        var third = identifier();
        library.setOption(third, rdma_h.RDMA_OPTION_ID(), reuse, enable, 4);
        assertRejected(Errno.EADDRINUSE, () -> library.bind(third, taken));
        assertRejected(
                Errno.EADDRINUSE,
                () -> library.bind(third, name(RoceGid.ipv4(0), own(second).port())));
        destroy(second);
        library.bind(third, taken);
        destroy(third);
    }

    @Test
    void shouldRejectDestroyedObjects() {
        var identifier = identifier();
        library.bind(identifier, name(address(context), 0));
        library.resolveAddress(identifier, 0, name(address(context), 7), 1);
        var event = event(rdma_h.RDMA_CM_EVENT_ADDR_RESOLVED(), identifier);
        library.acknowledge(event);
        assertRejected(Errno.EINVAL, () -> library.acknowledge(event));
        destroy(identifier);
        assertRejected(Errno.EINVAL, () -> library.destroyIdentifier(identifier));
        assertRejected(Errno.EINVAL, () -> library.resolveRoute(identifier, 1));
        assertRejected(Errno.EINVAL, () -> library.acknowledge(0));
        assertRejected(Errno.EAGAIN, () -> library.takeEvent(channel, event));
    }

    @Test
    void shouldDestroyAnIdentifierOnlyAfterItsEventsAreAcknowledged() throws Exception {
        var identifier = identifier();
        library.resolveAddress(identifier, 0, name(address(context), 7), 1);
        var event = event(rdma_h.RDMA_CM_EVENT_ADDR_RESOLVED(), identifier);

        var destroying = CompletableFuture.runAsync(() -> destroy(identifier));
        Thread.sleep(50);
        assertThat(destroying).isNotDone();
        library.acknowledge(event);

        destroying.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void shouldRejectPendingRequestsWhenTheListenerIsDestroyed() {
        var listener = listener(address(context));
        var caller = routed(0, address(context), own(listener).port());
        library.connect(caller, parameters(17));
        awaitReadable();

        destroy(listener);

        library.acknowledge(event(rdma_h.RDMA_CM_EVENT_REJECTED(), caller));
        destroy(caller);
    }

    /** Waits until an event is available, without taking it. */
    private void awaitReadable() {
        var deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (EventChannelObject.of(channel).isEmpty()) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldMigratePendingRequestsWithTheirListener() {
        var listener = listener(address(context));
        var caller = routed(0, address(context), own(listener).port());
        library.connect(caller, parameters(17));
        awaitReadable();
        var former = channel;
        channel = library.createChannel();

        library.migrate(listener, channel);

        assertThat(rdma_cm_id.channel(structure(listener)).address()).isEqualTo(channel);
        var called = request(listener);
        library.migrate(caller, channel);
        library.reject(called, 0, (byte) 0);
        library.acknowledge(event(rdma_h.RDMA_CM_EVENT_REJECTED(), caller));
        destroy(called, caller, listener);
        library.destroyChannel(former);
    }

    /** Calls an exported function as a C program does, and verifies its result and errno. */
    @Test
    void shouldReportFailuresOfExportedFunctionsThroughErrno() throws Throwable {
        var destroy = ConnectionExports.library(List.of(one)).find("rdma_destroy_id").orElseThrow();
        var handle = Downcalls.capturingErrno(rdma_h.rdma_destroy_id$descriptor());

        var result = (int) handle.invokeExact(destroy, CapturedErrno.segment(), MemorySegment.NULL);

        assertThat(result).isEqualTo(-1);
        assertThat(CapturedErrno.value()).isEqualTo(Errno.EINVAL);
    }
}
