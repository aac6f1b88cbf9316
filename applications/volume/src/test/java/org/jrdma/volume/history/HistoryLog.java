package org.jrdma.volume.history;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import org.jrdma.volume.model.Failure;

/**
 * Writes the history of a client to a file, one event a line. Each line is written at once, so that
 * it remains if the process is killed. Used by one thread.
 *
 * <p>A line contains the time of {@link System#nanoTime()}, which is the same clock in all
 * processes of a machine, the event and its arguments. {@link RecordedClientHistory} reads the
 * file.
 */
final class HistoryLog {

    /** The events. */
    enum Event {
        /** An operation has started: its kind and its two arguments. */
        BEGIN,
        /** The operation was acknowledged: its results. */
        END,
        /** The volume has rejected the operation, or a part of it: the reason. */
        REJECTED,
        /** The writes of the client to a file are durable: the file. */
        DURABLE,
        /** The session was lost, and the result of the operation is unknown. */
        LOST,
        /** An operation has failed, or had a wrong result: the description. */
        ERROR
    }

    /** The operations. */
    enum Kind {
        /** Writes a value to a register: the register and the value. */
        WRITE,
        /** Reads a register: the register. The results are the values of its words. */
        READ,
        /** Appends a value to the common file: the value. */
        APPEND,
        /** Increments the common counter: the value after it. */
        INCREMENT,
        /** Creates the folders of the client, and its token in the first one. */
        CREATE,
        /** Moves the token to a folder: the folder. */
        MOVE,
        /** Finds the folder of the token. The result is the folder. */
        FIND,
        /** Truncates or extends the file of the client: the size. */
        TRUNCATE,
        /** Writes at the end of the file of the client: the size after it. */
        EXTEND
    }

    /** The files with data that a client writes before it is durable. */
    enum DataFile {
        REGISTERS,
        OWN
    }

    private final FileOutputStream output;

    HistoryLog(Path file) throws IOException {
        this.output = new FileOutputStream(file.toFile(), true);
    }

    void begin(Kind kind, long first, long second) {
        write(Event.BEGIN, "%s %d %d".formatted(kind, first, second));
    }

    void begin(Kind kind, long argument) {
        begin(kind, argument, 0);
    }

    /** Writes the results of a read. */
    void end(Set<Long> values) {
        write(Event.END, values.stream().map(Object::toString).collect(Collectors.joining(",")));
    }

    void end(long result) {
        end(Set.of(result));
    }

    void end() {
        end(0);
    }

    void rejected(Failure failure) {
        write(Event.REJECTED, failure.name());
    }

    void durable(DataFile file) {
        write(Event.DURABLE, file.name());
    }

    void sessionLost() {
        write(Event.LOST, "");
    }

    void error(String description) {
        write(Event.ERROR, description.replace('\n', ' '));
    }

    private void write(Event event, String arguments) {
        try {
            output.write(
                    "%d %s %s\n".formatted(System.nanoTime(), event, arguments).getBytes(UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
