package org.jrdma.soft.roce.abi.verbs;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.soft.roce.engine.XrcDomainKey;
import org.jspecify.annotations.Nullable;

/** An XRC domain of a device. Several contexts may have the domain open at the same time. */
final class XrcDomain {

    private final XrcDomainKey domain = new XrcDomainKey();
    private final Map<Integer, QueuePairCore> receivers = new ConcurrentHashMap<>();

    /** A key for the file that identifies the domain; null if the domain has no file. */
    private final @Nullable Object file;

    /**
     * The number of {@code ibv_xrcd} structures that refer to the domain. Guarded by the lock of
     * {@link XrcDomains}.
     */
    int opened;

    XrcDomain(@Nullable Object file) {
        this.file = file;
    }

    XrcDomainKey domain() {
        return domain;
    }

    @Nullable Object file() {
        return file;
    }

    /** The XRC receive queue pairs of the domain, by queue pair number. */
    Map<Integer, QueuePairCore> receivers() {
        return receivers;
    }
}
