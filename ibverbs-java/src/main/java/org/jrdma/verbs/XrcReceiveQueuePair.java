package org.jrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalInt;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.handle.GuardedCalls;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.QueuePairFunctions;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.QueuePairAttributes;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeQueuePair;
import org.jrdma.verbs.queue.SourceAddress;

/**
 * The receiving queue pair of an extended reliable connection.
 *
 * <p>Each message specifies a shared receive queue of the {@link XrcDomain}, which receives the
 * message. The queue pair itself has no receive queue, no send queue and no completion queue. Its
 * peer is a queue pair that was created with {@link QueuePairOptions#xrcSend}.
 *
 * <p>Owned by its XRC domain. Other processes that share the domain can {@linkplain
 * XrcDomain#openReceiveQueuePair open} the queue pair. It then exists until the last process has
 * closed it. In C: {@code IBV_QPT_XRC_RECV}.
 */
public final class XrcReceiveQueuePair extends QueuePair implements ConnectedQueuePair {

    private final XrcDomain domain;

    private XrcReceiveQueuePair(XrcDomain domain, NativeQueuePair queuePair) {
        super(queuePair, null);
        this.domain = domain;
    }

    static XrcReceiveQueuePair create(XrcDomain domain, int port, OptionalInt gidIndex)
            throws VerbsException {
        var device = domain.device();
        var attempt =
                CheckedCall.to(
                        "ibv_create_qp_ex",
                        () ->
                                "for %s in %s"
                                        .formatted(
                                                QueuePairType.XRC_RECEIVE.description(), domain));
        return create(
                domain,
                () ->
                        device.library()
                                .queuePairs()
                                .createReceiving(device.context(), domain.address(), attempt),
                _ -> new PortAndGid(port, gidIndex));
    }

    static XrcReceiveQueuePair open(XrcDomain domain, int number) throws VerbsException {
        var device = domain.device();
        var functions = device.library().queuePairs();
        var name = "for queue pair 0x%06x".formatted(number);
        var attempt = CheckedCall.to("ibv_open_qp", () -> "%s in %s".formatted(name, domain));
        var opened =
                create(
                        domain,
                        () ->
                                functions.openReceiving(
                                        device.context(), domain.address(), number, attempt),
                        queuePair ->
                                PortAndGid.of(
                                        functions.query(
                                                queuePair,
                                                true,
                                                false,
                                                CheckedCall.to("ibv_query_qp", () -> name))));
        try {
            opened.query(); // Queries the state, which other processes may have changed.
            return opened;
        } catch (Throwable e) {
            opened.close();
            throw e;
        }
    }

    private record PortAndGid(int port, OptionalInt gidIndex) {

        /**
         * Returns the port and the GID index in the attributes of a queue pair. A queue pair in the
         * state RESET has no port; in that case, the result contains port 1, which is the default.
         */
        static PortAndGid of(QueuePairAttributes attributes) {
            return new PortAndGid(
                    Math.max(1, attributes.port()),
                    attributes.address().route().stream()
                            .mapToInt(AddressVector.GlobalRoute::sourceGidIndex)
                            .findFirst());
        }
    }

    private interface PortQuery {
        PortAndGid query(MemorySegment queuePair) throws VerbsException;
    }

    private static XrcReceiveQueuePair create(
            XrcDomain domain,
            GuardedCalls.Call<QueuePairFunctions.Created> creation,
            PortQuery portQuery)
            throws VerbsException {
        var device = domain.device();
        var functions = device.library().queuePairs();
        return GuardedCalls.call(
                domain.ownLifetime(),
                () -> {
                    var address = creation.run().queuePair();
                    var name = NativeQueuePair.name(QueuePairFunctions.number(address), device);
                    var destruction = CheckedCall.to("ibv_destroy_qp", () -> "for " + name);
                    PortAndGid portAndGid;
                    SourceAddress local;
                    try {
                        portAndGid = portQuery.query(address);
                        local = SourceAddress.at(device, portAndGid.port, portAndGid.gidIndex);
                    } catch (VerbsException | RuntimeException | Error e) {
                        try {
                            functions.destroy(address, destruction);
                        } catch (VerbsException suppressed) {
                            e.addSuppressed(suppressed);
                        }
                        throw e;
                    }
                    var removal = device.events().deregistration(address.address());
                    var lifetime =
                            new Lifetime(
                                    name,
                                    List.of(domain.ownLifetime()),
                                    () -> {
                                        removal.run();
                                        functions.destroy(address, destruction);
                                    });
                    return new XrcReceiveQueuePair(
                            domain,
                            new NativeQueuePair(
                                    device,
                                    QueuePairType.XRC_RECEIVE,
                                    portAndGid.port,
                                    new NativeResource(address, lifetime),
                                    local));
                });
    }

    /** The XRC domain of this queue pair. */
    public XrcDomain xrcDomain() {
        return domain;
    }

    @Override
    public void connect(Endpoint peer, DirectConnectOptions options) throws VerbsException {
        connectTo(peer, options);
    }
}
