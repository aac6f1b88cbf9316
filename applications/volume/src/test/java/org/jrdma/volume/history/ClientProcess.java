package org.jrdma.volume.history;

import java.io.IOException;
import java.io.UncheckedIOException;

/** The handle of a {@link ClientProgram}. */
final class ClientProcess extends JavaProcess {

    /** The commands that the program executes. */
    enum Command {
        /** Cuts the link to the drive. */
        CUT,
        /** Restores the link. */
        RESTORE,
        /** Fills the drive. */
        FILL,
        /** Frees the space. */
        FREE,
        /** Ends the program. */
        END
    }

    /** The number of the host of clients that reach neither the drive nor the coordinator. */
    static final int NO_COORDINATOR = -1;

    private final int number;
    private final int host;
    private boolean hasConnected;
    private boolean isDirect;
    private int executed;

    /**
     * @param number the number of the client, which no other client has
     * @param host the number of the host; 0 for a client without a path to the drive, or {@link
     *     #NO_COORDINATOR}
     */
    ClientProcess(HistoryVolume volume, int number, long seed, int host) throws IOException {
        super(
                volume.folder().resolve("client-%d.log".formatted(number)),
                ClientProgram.class,
                volume.arguments(number, seed, host));
        this.number = number;
        this.host = host;
    }

    int number() {
        return number;
    }

    int host() {
        return host;
    }

    /** Returns true if the program has a drive, and uses it. */
    boolean isDirect() {
        update();
        return isDirect;
    }

    private void update() {
        try {
            for (var line : newLines()) {
                if (line.contains(" is connected to the coordinator") && !hasConnected) {
                    hasConnected = true;
                    isDirect = host > 0;
                }
                if (line.contains(" uses the path: ")) {
                    isDirect = line.contains(" uses the path: direct");
                }
                if (line.startsWith("Executed ")) {
                    executed++;
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Lets the program execute a command, and waits for it. */
    void execute(Command command) throws IOException, InterruptedException {
        update();
        var before = executed;
        send(command.name());
        await(
                "%s executed %s".formatted(this, command),
                HistoryVolume.RETRY_TIMEOUT,
                () -> {
                    update();
                    return executed > before || !isAlive();
                });
    }
}
