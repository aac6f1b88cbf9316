package org.jrdma.soft.roce.abi.verbs;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.soft.roce.engine.XrcDomainIdentity;
import org.jspecify.annotations.Nullable;

/** An XRC domain of a device. Several contexts may have the domain open at the same time. */
final class XrcDomain {

    private final XrcDomainIdentity domain = new XrcDomainIdentity();
    private final Map<Integer, QueuePairStateAndAttributes> receivers = new ConcurrentHashMap<>();

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

    XrcDomainIdentity domain() {
        return domain;
    }

    @Nullable Object file() {
        return file;
    }

    /** The XRC receive queue pairs of the domain, by queue pair number. */
    Map<Integer, QueuePairStateAndAttributes> receivers() {
        return receivers;
    }
}
