package org.jrdma.verbs.xrc;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalInt;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.ConnectOptions;
import org.jrdma.verbs.ConnectedQueuePair;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.access.VerbsAccess;
import org.jrdma.verbs.handle.HeldCalls;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.QueuePairFunctions;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.QueuePairAttributes;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.LocalAddress;
import org.jrdma.verbs.queue.NativeQueuePair;

/**
 * The receiving end of an extended reliable connection, for every shared receive queue of its
 * {@link XrcDomain} that a request names. It has neither receives nor completions of its own: those
 * are the queues'. Its peer is a queue pair of {@link org.jrdma.verbs.QueuePairOptions#xrcSend}.
 *
 * <p>Owned by its XRC domain, which other processes may have open too. They {@linkplain
 * XrcDomain#openReceiveQueuePair open} the queue pair as well, and it exists until the last process
 * has closed it. In C: {@code IBV_QPT_XRC_RECV}.
 */
public final class XrcReceiveQueuePair extends QueuePair implements ConnectedQueuePair {

    private final XrcDomain domain;

    private XrcReceiveQueuePair(XrcDomain domain, NativeQueuePair queuePair) {
        super(VerbsAccess.get().handle(queuePair));
        this.domain = domain;
    }

    static XrcReceiveQueuePair make(XrcDomain domain, int port, OptionalInt gidIndex)
            throws VerbsException {
        var device = domain.handle();
        var attempt =
                Attempt.to(
                        "ibv_create_qp_ex",
                        () ->
                                "for %s in %s"
                                        .formatted(
                                                QueuePairType.XRC_RECEIVE.description(), domain));
        return make(
                domain,
                () ->
                        device.library()
                                .queuePairs()
                                .createReceiving(device.context(), domain.address(), attempt),
                _ -> new Place(port, gidIndex));
    }

    static XrcReceiveQueuePair open(XrcDomain domain, int number) throws VerbsException {
        var device = domain.handle();
        var functions = device.library().queuePairs();
        var name = "for queue pair 0x%06x".formatted(number);
        var attempt = Attempt.to("ibv_open_qp", () -> "%s in %s".formatted(name, domain));
        var opened =
                make(
                        domain,
                        () ->
                                functions.openReceiving(
                                        device.context(), domain.address(), number, attempt),
                        queuePair ->
                                Place.of(
                                        functions.query(
                                                queuePair,
                                                true,
                                                false,
                                                Attempt.to("ibv_query_qp", () -> name))));
        try {
            opened.query(); // the state that other processes have brought it to
            return opened;
        } catch (VerbsException | RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    /** The state, which other processes may have changed. */
    private record Place(int port, OptionalInt gidIndex) {

        /** A queue pair in RESET has no place yet: it gets the first port, like a new one. */
        static Place of(QueuePairAttributes attributes) {
            return new Place(
                    Math.max(1, attributes.port()),
                    attributes.address().route().stream()
                            .mapToInt(AddressVector.GlobalRoute::sourceGidIndex)
                            .findFirst());
        }
    }

    /** Finds the place of a native queue pair. */
    private interface Placing {
        Place of(MemorySegment queuePair) throws VerbsException;
    }

    private static XrcReceiveQueuePair make(
            XrcDomain domain, HeldCalls.Call<QueuePairFunctions.Created> creation, Placing placing)
            throws VerbsException {
        var device = domain.handle();
        var functions = device.library().queuePairs();
        return HeldCalls.call(
                domain.ownLifetime(),
                () -> {
                    var address = creation.run().queuePair();
                    var name = NativeQueuePair.name(QueuePairFunctions.number(address), device);
                    var destruction = Attempt.to("ibv_destroy_qp", () -> "for " + name);
                    Place place;
                    LocalAddress local;
                    try {
                        place = placing.of(address);
                        local = LocalAddress.at(device, place.port, place.gidIndex);
                    } catch (VerbsException | RuntimeException | Error e) {
                        try {
                            functions.destroy(address, destruction);
                        } catch (VerbsException again) {
                            e.addSuppressed(again);
                        }
                        throw e;
                    }
                    var forget = device.events().forgetting(address.address());
                    var lifetime =
                            new Lifetime(
                                    name,
                                    List.of(domain.ownLifetime()),
                                    () -> {
                                        forget.run();
                                        functions.destroy(address, destruction);
                                    });
                    return new XrcReceiveQueuePair(
                            domain,
                            new NativeQueuePair(
                                    device,
                                    QueuePairType.XRC_RECEIVE,
                                    place.port,
                                    new NativeResource(address, lifetime),
                                    local));
                });
    }

    /** The XRC domain whose shared receive queues it receives for. */
    public XrcDomain xrcDomain() {
        return domain;
    }

    @Override
    public void connect(Endpoint peer, ConnectOptions options) throws VerbsException {
        connectTo(peer, options);
    }
}
