package org.jrdma.soft.roce.abi.verbs;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.soft.roce.engine.ExtendedDomain;
import org.jspecify.annotations.Nullable;

/** An XRC domain of a device, however many have it open. */
final class XrcDomain {

    private final ExtendedDomain domain = new ExtendedDomain();
    private final Map<Integer, QueuePairCore> receivers = new ConcurrentHashMap<>();

    /** What it is found by; null if by nothing. */
    private final @Nullable Object file;

    /** How many have it open. Guarded by {@link XrcDomains}. */
    int opened;

    XrcDomain(@Nullable Object file) {
        this.file = file;
    }

    ExtendedDomain domain() {
        return domain;
    }

    @Nullable Object file() {
        return file;
    }

    /** The queue pairs that receive in it, by number. */
    Map<Integer, QueuePairCore> receivers() {
        return receivers;
    }
}
