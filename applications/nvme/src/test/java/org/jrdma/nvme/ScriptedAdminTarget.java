package org.jrdma.nvme;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.ConnectPrivateData;
import org.jrdma.nvme.model.FabricsDataPointer;
import org.jrdma.nvme.model.ResponseCapsule;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.cm.Connection;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.Listener;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.memory.RegisteredArena;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.TransferException;

/** A target with one admin queue, whose responses a test chooses. */
final class ScriptedAdminTarget implements AutoCloseable {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final Duration TICK = Duration.ofMillis(10);
    private static final int ENTRIES = ConnectPrivateData.ADMIN_ENTRIES;
    private static final int PAGE_BYTES = 4096;

    /** Chooses the responses to a command. */
    @FunctionalInterface
    interface Script {
        List<ResponseCapsule> responses(Command command, MemorySlice data);
    }

    /** The first bytes of a response that belongs to no command. */
    private record Unsolicited(ResponseCapsule response, int bytes) {}

    private final Script script;
    private final Listener listener;
    private final ProtectionDomain domain;
    private final RegisteredArena arena;
    private final CompletionDispatcher completions;
    private final Queue<Unsolicited> unsolicited = new ConcurrentLinkedQueue<>();
    private final CompletableFuture<Void> result = new CompletableFuture<>();
    private final Thread thread = Thread.ofPlatform().daemon().unstarted(this::serve);
    private volatile boolean closed;

    ScriptedAdminTarget(
            ConnectionManager manager, Device device, InetAddress address, Script script)
            throws FabricException {
        this.script = script;
        listener = manager.listen(new InetSocketAddress(address, 0));
        domain = device.newProtectionDomain();
        arena = domain.newArena(Access.LOCAL_WRITE);
        completions = device.newCompletionDispatcher(3 * ENTRIES);
        thread.start();
    }

    InetSocketAddress address() {
        return listener.localAddresses().getFirst();
    }

    /** Returns the response to a command. */
    static ResponseCapsule response(Command command, long result, int status) {
        return new ResponseCapsule(result, 0, 0, command.id(), status);
    }

    /** Sends a response that belongs to no command. */
    void send(ResponseCapsule response) {
        send(response, ResponseCapsule.BYTES);
    }

    /** Sends the first bytes of a response. */
    void send(ResponseCapsule response, int bytes) {
        unsolicited.add(new Unsolicited(response, bytes));
    }

    private void serve() {
        try (var request = listener.next(TIMEOUT)) {
            var capsules = new ArrayDeque<MemorySlice>();
            for (var i = 0; i < ENTRIES; i++) {
                capsules.add(arena.region(Command.BYTES).slice());
            }
            var receives = new ArrayDeque<Transfer>();
            try (var connection =
                    request.accept(
                            domain,
                            ConnectionOptions.of(
                                            QueuePairOptions.reliable(completions)
                                                    .sends(ENTRIES)
                                                    .receives(ENTRIES))
                                    .privateData(ConnectPrivateData.encodeAcceptance(ENTRIES))
                                    .prepared(pair -> {
                                        for (var capsule : capsules) {
                                            receives.add(pair.receive(capsule));
                                        }
                                    }),
                            TIMEOUT)) {
                serve(connection, capsules, receives);
            }
            result.complete(null);
        } catch (TransferException _) { // the host has disconnected
            result.complete(null);
        } catch (IOException | RuntimeException | Error e) {
            if (closed) {
                result.complete(null);
            } else {
                result.completeExceptionally(e);
            }
        }
    }

    private void serve(
            Connection<AsyncQueuePair> connection,
            ArrayDeque<MemorySlice> capsules,
            ArrayDeque<Transfer> receives)
            throws FabricException, InterruptedIOException {
        var pair = connection.queuePair();
        var data = arena.region(PAGE_BYTES).slice();
        var response = arena.region(ResponseCapsule.BYTES).slice();
        while (!closed && !connection.disconnected().isDone()) {
            for (var next = unsolicited.poll(); next != null; next = unsolicited.poll()) {
                send(pair, response, next.response(), next.bytes());
            }
            try {
                if (!receives.getFirst().awaitCompletion(TICK).isSuccess()) {
                    return; // the host has disconnected
                }
            } catch (FabricTimeoutException _) {
                continue;
            }
            receives.removeFirst();
            var capsule = capsules.removeFirst();
            var command = Command.decode(capsule.segment(), 0);
            capsules.add(capsule);
            receives.add(pair.receive(capsule));
            var responses = script.responses(command, data);
            var pointer = FabricsDataPointer.decode(command);
            if (pointer.length() == PAGE_BYTES) {
                var _ =
                        pair.write(
                                        data,
                                        new RemoteMemory(
                                                pointer.address(), pointer.key(), PAGE_BYTES))
                                .await(TIMEOUT);
            }
            for (var each : responses) {
                send(pair, response, each, ResponseCapsule.BYTES);
            }
        }
    }

    private static void send(
            AsyncQueuePair pair, MemorySlice buffer, ResponseCapsule response, int bytes)
            throws FabricException, InterruptedIOException {
        response.encode(buffer.segment(), 0);
        var _ = pair.send(buffer.slice(0, bytes)).await(TIMEOUT);
    }

    @Override
    public void close() {
        closed = true;
        listener.close();
        try {
            var _ = thread.join(TIMEOUT);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        completions.close();
        domain.close();
        result.join();
    }
}
