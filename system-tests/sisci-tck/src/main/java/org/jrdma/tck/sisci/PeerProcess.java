package org.jrdma.tck.sisci;

import java.io.EOFException;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.util.List;
import org.jrdma.sisci.Sisci;
import org.jspecify.annotations.Nullable;

/**
 * A peer in a JVM of its own, on this machine or another: work goes there by standard input, and
 * its result comes back by standard output. Both sides need the same class path.
 */
public final class PeerProcess extends Peer {

    private final Process process;
    private final ObjectOutputStream work;
    private final ObjectInputStream results;

    private PeerProcess(Process process) throws IOException {
        this.process = process;
        this.work = new ObjectOutputStream(process.getOutputStream());
        work.flush();
        this.results = new ObjectInputStream(process.getInputStream());
    }

    /** Starts one by a command that ends in {@link #main}. */
    public static PeerProcess start(List<String> command) throws IOException {
        return new PeerProcess(new ProcessBuilder(command).redirectError(Redirect.INHERIT).start());
    }

    @Override
    @SuppressWarnings("unchecked") // the work says what it gives
    public synchronized <T extends @Nullable Object> T ask(Work<T> asked) throws Exception {
        work.writeObject(asked);
        work.reset();
        work.flush();
        var failure = results.readObject();
        if (failure instanceof Exception e) {
            throw e;
        } else if (failure instanceof Error e) {
            throw e;
        }
        return (T) results.readObject();
    }

    /** As by {@code kill -9}. Returns when it is no more. */
    public void kill() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The process's id. */
    public long pid() {
        return process.pid();
    }

    @Override
    public void close() {
        kill();
    }

    /** Does what it is sent, until its parent has gone. */
    public static void main(String... arguments) throws Exception {
        var results = new ObjectOutputStream(System.out);
        results.flush();
        System.setOut(System.err);
        try (var work = new ObjectInputStream(System.in)) {
            var party = new Party(Sisci.configured());
            while (true) {
                var asked = (Work<?>) work.readObject();
                Object result = null;
                Throwable failure = null;
                try {
                    result = asked.run(party);
                } catch (Exception | AssertionError e) {
                    failure = e;
                }
                results.writeObject(failure);
                if (failure == null) {
                    results.writeObject(result);
                }
                results.reset();
                results.flush();
            }
        } catch (EOFException e) {
            // That is its end.
        }
    }
}
