package org.jrdma.soft.roce.connection;

/** Connect requests that a host can forge if it knows a genuine request. */
public final class ForgedRequestFactory {

    private ForgedRequestFactory() {}

    /** Returns a request that differs from a genuine one in its IDs, adapter and queue pair. */
    public static ConnectRequest of(ConnectRequest genuine, int id, long adapter, int queuePair) {
        return new ConnectRequest(
                id,
                id,
                genuine.serviceId(),
                adapter,
                genuine.offer().of(queuePair),
                genuine.transport(),
                genuine.retries(),
                genuine.partitionKey(),
                genuine.peerResponseTimeout(),
                genuine.ownResponseTimeout(),
                genuine.repeats(),
                genuine.path(),
                genuine.privateData());
    }
}
