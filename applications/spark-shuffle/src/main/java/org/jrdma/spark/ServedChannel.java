package org.jrdma.spark;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.ProtocolException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import org.jrdma.verbs.cm.RdmaChannel;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * The channel of another executor that reads map outputs of this executor. Confined to its thread.
 */
final class ServedChannel implements RdmaChannel.Handler {

    private static final Duration FOREVER = Duration.ofDays(1);

    private final RdmaChannel channel;
    private final MapOutputs outputs;
    private final ShuffleMetrics metrics;
    private final Queue<PeerMessage> replies = new ArrayDeque<>();

    /** The outputs that the other executor may be reading, by the number of its request. */
    private final Map<Integer, List<RegisteredMapOutput>> inUse = new HashMap<>();

    ServedChannel(RdmaChannel channel, MapOutputs outputs, ShuffleMetrics metrics) {
        this.channel = channel;
        this.outputs = outputs;
        this.metrics = metrics;
    }

    /** Answers requests until the channel ends. */
    void serve() throws IOException {
        try {
            while (true) {
                channel.await(this, FOREVER);
                while (!replies.isEmpty()
                        && channel.trySend(MemorySegment.ofBuffer(replies.element().encode()))) {
                    replies.remove();
                }
            }
        } finally {
            channel.close(); // Ends the reads before their memory is deregistered.
            inUse.values().forEach(used -> used.forEach(outputs::release));
        }
    }

    @Override
    public void message(MemorySegment buffer, long length) throws IOException {
        switch (PeerMessage.decode(buffer.asSlice(0, length).asByteBuffer())) {
            case PeerMessage.Locate(var request, var blocks) ->
                    replies.add(new PeerMessage.Located(request, locate(request, blocks)));
            case PeerMessage.Release(var request) -> {
                var used = inUse.remove(request);
                if (used == null) {
                    throw new ProtocolException("Unknown request " + request);
                }
                used.forEach(outputs::release);
            }
            case PeerMessage.Located _ -> throw new ProtocolException("Unexpected reply");
        }
    }

    private List<Optional<RemoteMemory>> locate(int request, List<PartitionRange> blocks)
            throws ProtocolException {
        if (inUse.size() >= PeerMessage.MAX_OPEN_REQUESTS
                || replies.size() >= PeerMessage.MAX_OPEN_REQUESTS
                || inUse.containsKey(request)) {
            throw new ProtocolException("Unexpected request " + request);
        }
        var used = new ArrayList<RegisteredMapOutput>();
        inUse.put(request, used);
        var locations = new ArrayList<Optional<RemoteMemory>>();
        for (var block : blocks) {
            var location = locate(block, used);
            metrics.add(location.isPresent() ? Metric.BLOCKS_LOCATED : Metric.BLOCKS_REFUSED, 1);
            locations.add(location);
        }
        return locations;
    }

    private Optional<RemoteMemory> locate(PartitionRange block, List<RegisteredMapOutput> used) {
        var key = new MapOutputIndex.Key(block.shuffle(), block.map());
        try {
            var output = outputs.acquire(key);
            output.ifPresent(used::add);
            return output.filter(found -> found.contains(block)).map(found -> found.locate(block));
        } catch (IOException | RuntimeException e) {
            outputs.logRefusal(key, e);
            return Optional.empty();
        }
    }
}
