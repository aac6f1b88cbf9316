package org.jrdma.soft.sisci.control;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.EventDescriptor;
import org.jrdma.soft.sisci.host.Host;
import org.jrdma.soft.sisci.host.PacketSocket;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All of a process's connections, and the one thread that listens to them. What it calls never
 * waits, so that questions are answered at once whatever this process does.
 */
public final class Switchboard implements AutoCloseable {

    /** Who hears what others say. Called on the one thread. */
    public interface Listener {
        /** A message has come; not an answer. */
        void received(Connection from, Message message);

        /** The process at the other end has gone: ended, or killed. */
        void lost(Connection connection);
    }

    private static final Logger LOG = LoggerFactory.getLogger(Switchboard.class);
    private static final long ANSWER_SECONDS = 5;
    private static final int DIAL_ATTEMPTS = 1_000;
    private static final long DIAL_PAUSE_NANOS = 1_000_000;

    private final FabricDirectory directory;
    private final Entry self;
    private final Listener listener;
    private final int listening;
    private final EventDescriptor wakeUp;
    private final Thread thread;

    /** Those from others and those to others. Changed by the thread, and by who dials. */
    private final List<Connection> connections = new CopyOnWriteArrayList<>();

    private final Map<Entry, Connection> dialled = new HashMap<>();
    private final Map<Integer, Question> questions = new ConcurrentHashMap<>();
    private final AtomicInteger lastCorrelation = new AtomicInteger();
    private volatile boolean closed;

    private record Question(Connection connection, CompletableFuture<Optional<Message>> answer) {}

    /** Lets others connect. Needs the directory's lock. */
    public Switchboard(FabricDirectory directory, int node, int member, Listener listener)
            throws FabricException {
        this.directory = directory;
        this.self = Entry.ofMember(node, member);
        this.listener = listener;
        this.wakeUp = EventDescriptor.open();
        try {
            this.listening = PacketSocket.listen(directory.path(self));
        } catch (FabricException e) {
            wakeUp.close();
            throw e;
        }
        this.thread =
                Thread.ofPlatform().daemon().name("sisci-soft-node-" + node).unstarted(this::run);
        thread.start();
    }

    /** The connection to a process, made if there is none; empty if it is no more. */
    public Optional<Connection> dial(int node, int member) throws FabricException {
        var entry = Entry.ofMember(node, member);
        synchronized (dialled) {
            var known = dialled.get(entry);
            if (known != null) {
                return Optional.of(known);
            }
            for (var attempt = 1; ; attempt++) {
                try {
                    var connection =
                            new Connection(this, PacketSocket.connect(directory.path(entry)));
                    connection.isOf(node, member);
                    connection.send(
                            Message.of(Message.Kind.HELLO, self.node(), self.member(), 0, 0));
                    dialled.put(entry, connection);
                    connections.add(connection);
                    wake();
                    return Optional.of(connection);
                } catch (FabricException e) {
                    switch (e.code()) {
                        case Errno.ECONNREFUSED, Errno.ENOENT -> {
                            return Optional.empty();
                        }
                        case Errno.EAGAIN -> { // many are before this one
                            if (attempt == DIAL_ATTEMPTS) {
                                return Optional.empty();
                            }
                            LockSupport.parkNanos(DIAL_PAUSE_NANOS);
                        }
                        default -> throw e;
                    }
                }
            }
        }
    }

    /** Asks, and waits for the answer; empty if none comes, or the other has gone. */
    public Optional<Message> ask(Connection connection, Message question) {
        var correlation = lastCorrelation.incrementAndGet();
        var answer = new CompletableFuture<Optional<Message>>();
        questions.put(correlation, new Question(connection, answer));
        try {
            if (!connections.contains(connection)) {
                return Optional.empty();
            }
            connection.send(question.numbered(correlation));
            return await(answer);
        } finally {
            questions.remove(correlation);
        }
    }

    /** An interrupt is kept for whoever comes next: C knows none. */
    private static Optional<Message> await(CompletableFuture<Optional<Message>> answer) {
        var interrupted = false;
        try {
            while (true) {
                try {
                    return answer.get(ANSWER_SECONDS, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (TimeoutException e) {
                    return Optional.empty();
                } catch (ExecutionException e) {
                    throw new AssertionError(e);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    void wake() {
        if (!closed) {
            wakeUp.raise();
        }
    }

    private void run() {
        try (var arena = Arena.ofConfined()) {
            var buffer = arena.allocate(Message.MOST_BYTES, 8);
            while (!closed) {
                turn(buffer);
            }
        }
    }

    private void turn(MemorySegment buffer) {
        try (var arena = Arena.ofConfined()) {
            var those = new ArrayList<>(connections);
            var set = new PacketSocket.Set(those.size() + 2, arena);
            var woken = set.add(wakeUp.number(), PacketSocket.READABLE);
            var called = set.add(listening, PacketSocket.READABLE);
            for (var connection : those) {
                set.add(
                        connection.socket(),
                        PacketSocket.READABLE
                                | (connection.backlog() > 0 ? PacketSocket.WRITABLE : 0));
            }
            set.await();
            if (set.isReady(woken, PacketSocket.READABLE)) {
                wakeUp.lower();
            }
            if (set.isReady(called, PacketSocket.READABLE)) {
                letIn();
            }
            for (var i = 0; i < those.size() && !closed; i++) {
                if (set.isReady(called + 1 + i, PacketSocket.WRITABLE)) {
                    those.get(i).sendWaiting();
                }
                if (set.isReady(called + 1 + i, PacketSocket.READABLE)) {
                    listenTo(those.get(i), buffer);
                }
            }
        }
    }

    private void letIn() {
        for (var socket = PacketSocket.accept(listening);
                socket >= 0;
                socket = PacketSocket.accept(listening)) {
            connections.add(new Connection(this, socket));
        }
    }

    private void listenTo(Connection connection, MemorySegment buffer) {
        for (var length = PacketSocket.receive(connection.socket(), buffer);
                length >= 0 && !closed;
                length = PacketSocket.receive(connection.socket(), buffer)) {
            var message = length == 0 ? Optional.<Message>empty() : Message.read(buffer, length);
            if (message.isEmpty()) {
                if (length > 0) {
                    LOG.warn(
                            "Node {} says what no process of this release does: it is cut off",
                            connection.node());
                }
                lose(connection);
                return;
            }
            hear(connection, message.get());
        }
    }

    private void hear(Connection connection, Message message) {
        switch (message.kind()) {
            case HELLO -> connection.isOf(message.subject(), message.first());
            case ANSWER -> {
                var question = questions.get(message.correlation());
                if (question != null) {
                    question.answer().complete(Optional.of(message));
                }
            }
            default -> {
                try {
                    listener.received(connection, message);
                } catch (RuntimeException e) {
                    LOG.error("{} of {} failed", message, connection.node(), e);
                }
            }
        }
    }

    private void lose(Connection connection) {
        connections.remove(connection);
        synchronized (dialled) {
            dialled.values().remove(connection);
        }
        connection.close();
        Host.close(connection.socket());
        for (var question : questions.values()) {
            if (question.connection() == connection) {
                question.answer().complete(Optional.empty());
            }
        }
        if (connection.node() != 0) {
            try {
                listener.lost(connection);
            } catch (RuntimeException e) {
                LOG.error("The end of node {} was not taken", connection.node(), e);
            }
        }
    }

    /** Hangs up on everyone. */
    @Override
    public void close() {
        closed = true;
        wakeUp.raise();
        while (thread.isAlive() && Thread.currentThread() != thread) {
            LockSupport.parkNanos(100_000);
        }
        Host.close(listening);
        for (var connection : connections) {
            connection.close();
            Host.close(connection.socket());
        }
        connections.clear();
        for (var question : questions.values()) {
            question.answer().complete(Optional.empty());
        }
        wakeUp.close();
    }
}
