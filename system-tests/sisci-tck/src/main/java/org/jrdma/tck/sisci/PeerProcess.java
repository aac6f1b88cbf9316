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
 * A peer in a separate JVM, on this machine or another. Tasks are sent to its standard input, and
 * results are read from its standard output. Both JVMs need the same class path.
 */
public final class PeerProcess extends Peer {

    private final Process process;
    private final ObjectOutputStream tasks;
    private final ObjectInputStream results;

    private PeerProcess(Process process) throws IOException {
        this.process = process;
        this.tasks = new ObjectOutputStream(process.getOutputStream());
        tasks.flush();
        this.results = new ObjectInputStream(process.getInputStream());
    }

    /** Starts a peer with a command that runs {@link #main}. */
    public static PeerProcess start(List<String> command) throws IOException {
        return new PeerProcess(new ProcessBuilder(command).redirectError(Redirect.INHERIT).start());
    }

    @Override
    @SuppressWarnings("unchecked") // The type of the task is the type of the result.
    public synchronized <T extends @Nullable Object> T call(PeerTask<T> task) throws Exception {
        tasks.writeObject(task);
        tasks.reset();
        tasks.flush();
        var failure = results.readObject();
        if (failure instanceof Exception e) {
            throw e;
        } else if (failure instanceof Error e) {
            throw e;
        }
        return (T) results.readObject();
    }

    /** Kills the process with SIGKILL and waits until it has ended. */
    public void kill() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the ID of the process. */
    public long pid() {
        return process.pid();
    }

    @Override
    public void close() {
        kill();
    }

    /** Runs the tasks that it receives, until its parent ends. */
    public static void main(String... arguments) throws Exception {
        var results = new ObjectOutputStream(System.out);
        results.flush();
        System.setOut(System.err);
        try (var tasks = new ObjectInputStream(System.in)) {
            var context = new PeerTaskState(Sisci.configured());
            while (true) {
                var task = (PeerTask<?>) tasks.readObject();
                Object result = null;
                Throwable failure = null;
                try {
                    result = task.run(context);
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
            // The parent has ended.
        }
    }
}
