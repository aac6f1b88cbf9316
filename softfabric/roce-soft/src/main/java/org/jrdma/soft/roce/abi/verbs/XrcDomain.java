package org.jrdma.soft.roce.abi.verbs;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.soft.roce.engine.ExtendedDomain;
import org.jspecify.annotations.Nullable;

/** An XRC domain of a device, which several contexts may have open. */
final class XrcDomain {

    private final ExtendedDomain domain = new ExtendedDomain();
    private final Map<Integer, QueuePairCore> receivers = new ConcurrentHashMap<>();

    /** The key of the file that identifies the domain; null for a domain without a file. */
    private final @Nullable Object file;

    /** The number of times that the domain is open. Guarded by {@link XrcDomains}. */
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

    /** The XRC receive queue pairs of the domain, by number. */
    Map<Integer, QueuePairCore> receivers() {
        return receivers;
    }
}
