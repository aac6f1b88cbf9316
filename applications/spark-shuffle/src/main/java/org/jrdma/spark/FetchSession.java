package org.jrdma.spark;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.jrdma.verbs.cm.RdmaChannel;
import org.jrdma.verbs.memory.PooledBuffer;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads blocks of another executor over a channel: asks for the locations of the blocks, reads them
 * into registered buffers, and delivers them. Confined to the thread of the {@link PeerFetcher}.
 */
final class FetchSession implements RdmaChannel.Handler {

    private static final Logger LOG = LoggerFactory.getLogger(FetchSession.class);

    /** Small blocks share a buffer of at least this length. */
    private static final long SHARED_BUFFER_BYTES = 1 << 20;

    private static final long BUFFER_WAIT_NANOS = Duration.ofSeconds(1).toNanos();
    private static final Duration BUFFER_POLL = Duration.ofMillis(2);

    private final RdmaChannel channel;
    private final BlockBuffers buffers;
    private final Duration replyTimeout;
    private final ShuffleMetrics metrics;
    private final long maxBufferBytes;

    // In the order in which blocks pass through them.
    private final Deque<LocationRequest> toSend = new ArrayDeque<>();
    private final Map<Integer, LocationRequest> sent = new HashMap<>();
    private final Deque<RdmaBlockReadTask> waitingForBuffer = new ArrayDeque<>();
    private final Deque<RdmaBlockReadTask.Read> toRead = new ArrayDeque<>();
    private final Map<Long, RdmaBlockReadTask.Read> reading = new HashMap<>();
    private final Deque<PeerMessage> toRelease = new ArrayDeque<>();

    private final Set<RdmaBlockReadTask> unfinished = new HashSet<>();
    private int openRequests;
    private int lastRequest;
    private long lastRead;
    private long bufferWaitStart;
    private boolean hasDelivered;
    private boolean hasLoggedLocalFailure;

    /**
     * @param replyTimeout the time for which the other executor may register map outputs before it
     *     answers. The keep-alive of the channel detects an executor that has ended
     */
    FetchSession(
            RdmaChannel channel,
            BlockBuffers buffers,
            Duration replyTimeout,
            ShuffleMetrics metrics) {
        this.channel = channel;
        this.buffers = buffers;
        this.replyTimeout = replyTimeout;
        this.maxBufferBytes = buffers.maxBlockBytes();
        this.metrics = metrics;
    }

    /** Whether a block was delivered since this session started. */
    boolean hasDelivered() {
        return hasDelivered;
    }

    void add(Fetch fetch) {
        var blocks = fetch.missing();
        for (var i = 0; i < blocks.size(); i += PeerMessage.MAX_BLOCKS) {
            var end = Math.min(i + PeerMessage.MAX_BLOCKS, blocks.size());
            toSend.add(new LocationRequest(++lastRequest, fetch, blocks.subList(i, end)));
        }
    }

    boolean isIdle() {
        return toSend.isEmpty() && openRequests == 0 && toRelease.isEmpty();
    }

    /**
     * Sends requests and posts reads until a limit is reached, and waits for a reply, a completed
     * read or {@link RdmaChannel#wake()}.
     *
     * @param idleTimeout the maximum wait if nothing is outstanding
     * @return false if nothing was outstanding for this time
     */
    boolean advance(Duration idleTimeout) throws IOException {
        send();
        takeBuffers();
        read();
        var wasIdle = isIdle();
        var isShort = !waitingForBuffer.isEmpty() && reading.isEmpty();
        var timeout = wasIdle ? idleTimeout : isShort ? BUFFER_POLL : replyTimeout;
        if (channel.await(this, timeout) != RdmaChannel.WaitResult.TIMED_OUT) {
            return true;
        }
        if (!wasIdle && !isShort) {
            throw new IOException(
                    "The other executor has not answered for %d seconds on %s"
                            .formatted(replyTimeout.toSeconds(), channel));
        }
        return !wasIdle;
    }

    private void send() throws IOException {
        while (!toRelease.isEmpty() && trySend(toRelease.element())) {
            toRelease.remove();
        }
        while (!toSend.isEmpty()
                && toRelease.isEmpty()
                && openRequests < PeerMessage.MAX_OPEN_REQUESTS
                && trySend(toSend.element().message())) {
            var request = toSend.remove();
            sent.put(request.number(), request);
            openRequests++;
        }
    }

    private boolean trySend(PeerMessage message) throws IOException {
        return channel.trySend(MemorySegment.ofBuffer(message.encode()));
    }

    private void takeBuffers() {
        while (!waitingForBuffer.isEmpty()) {
            var task = waitingForBuffer.element();
            var length = task.bufferBytes();
            var isPossible = length <= maxBufferBytes;
            @Nullable PooledBuffer buffer;
            try {
                buffer = isPossible ? buffers.tryTake(length) : null;
            } catch (VerbsException e) {
                waitingForBuffer.remove();
                leaveToStock(task, e);
                continue;
            }
            if (buffer != null) {
                waitingForBuffer.remove();
                bufferWaitStart = 0;
                toRead.addAll(task.start(buffer));
                continue;
            }
            // Buffers may be held by tasks that wait for this block, so the wait is limited.
            if (bufferWaitStart == 0) {
                bufferWaitStart = System.nanoTime();
            }
            if (isPossible && System.nanoTime() - bufferWaitStart < BUFFER_WAIT_NANOS) {
                return;
            }
            waitingForBuffer.remove();
            task.leaveToStock();
            finish(task);
        }
        bufferWaitStart = 0;
    }

    /** Leaves a task to Spark's client that has failed on this executor. The channel is usable. */
    private void leaveToStock(RdmaBlockReadTask task, IOException cause) {
        if (hasLoggedLocalFailure) {
            LOG.debug("Cannot store blocks that are read by RDMA", cause);
        } else {
            hasLoggedLocalFailure = true;
            LOG.warn(
                    "Cannot store blocks that are read over {}. Spark's client reads them over TCP. Further failures are logged at the level DEBUG.",
                    channel,
                    cause);
        }
        task.leaveToStock();
        finish(task);
    }

    private void read() throws IOException {
        while (!toRead.isEmpty()) {
            var next = toRead.element();
            if (!channel.tryReadRemote(next.local(), next.remote(), ++lastRead)) {
                return;
            }
            reading.put(lastRead, toRead.remove());
        }
    }

    @Override
    public void message(MemorySegment buffer, long length) throws IOException {
        if (!(PeerMessage.decode(buffer.asSlice(0, length).asByteBuffer())
                instanceof PeerMessage.Located(var number, var locations))) {
            throw new ProtocolException("Unexpected request of the other executor");
        }
        var request = sent.remove(number);
        if (request == null || locations.size() != request.blocks().size()) {
            throw new ProtocolException("Unexpected reply %d".formatted(number));
        }
        request.openTasks++; // Until all tasks have been created.
        plan(request, locations);
        close(request);
    }

    /** Creates the tasks that read the blocks of a request. */
    private void plan(LocationRequest request, List<Optional<RemoteMemory>> locations) {
        var refused = new ArrayList<Fetch.Block>();
        var files = request.fetch().files();
        @Nullable BlockBatchReadTask shared = null;
        for (var i = 0; i < locations.size(); i++) {
            var block = request.blocks().get(i);
            var location = locations.get(i).orElse(null);
            if (location == null) {
                refused.add(block);
            } else if (location.length() == 0) {
                request.fetch().deliver(block, new NioManagedBuffer(ByteBuffer.allocate(0)));
            } else if (files != null && location.length() > files.maxBytesInMemory()) {
                enqueue(new BlockToFileReadTask(request, block, location, files, metrics));
            } else {
                if (shared == null
                        || shared.bufferBytes() >= SHARED_BUFFER_BYTES
                        || shared.bufferBytes() + location.length() > maxBufferBytes) {
                    shared = new BlockBatchReadTask(request, metrics);
                    enqueue(shared);
                }
                shared.add(block, location);
            }
        }
        request.fetch().leaveToStock(refused);
    }

    private void enqueue(RdmaBlockReadTask task) {
        task.request().openTasks++;
        unfinished.add(task);
        waitingForBuffer.add(task);
    }

    @Override
    public void done(long id) {
        var read = reading.remove(id);
        var task = read.task();
        RdmaBlockReadTask.Progress progress;
        try {
            progress = task.completed(read.index());
        } catch (IOException e) {
            leaveToStock(task, e);
            return;
        }
        switch (progress) {
            case READING -> hasDelivered = true;
            case NEEDS_BUFFER -> waitingForBuffer.addFirst(task);
            case FINISHED -> {
                hasDelivered = true;
                finish(task);
            }
        }
    }

    private void finish(RdmaBlockReadTask task) {
        unfinished.remove(task);
        close(task.request());
    }

    private void close(LocationRequest request) {
        if (--request.openTasks == 0) {
            openRequests--;
            toRelease.add(new PeerMessage.Release(request.number()));
        }
    }

    /** Releases all buffers after the channel was closed. */
    void abandon() {
        unfinished.forEach(RdmaBlockReadTask::abandon);
        unfinished.clear();
    }
}
