package org.jrdma.volume.history;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.FileHandle;
import org.jrdma.volume.client.VolumeClient;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.history.HistoryLog.DataFile;
import org.jrdma.volume.history.HistoryLog.Kind;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;
import org.jspecify.annotations.Nullable;

/**
 * The operations of one client: it writes and reads registers, appends records, increments a
 * counter under a lock, moves a file and changes the size of another. The first three are common to
 * all clients.
 */
final class RandomClientOperations {

    static final FilePath REGISTER_FILE = FilePath.of("/registers");
    static final FilePath APPENDED_FILE = FilePath.of("/appended");
    static final FilePath COUNTER_FILE = FilePath.of("/counter");
    static final int REGISTERS = 6;

    /** Not a multiple of a block, so that writes of neighbors share blocks. */
    static final int REGISTER_BYTES = 5000;

    static final int RECORD_BYTES = 16;

    /** The bytes at the end of a file that its client has extended. */
    static final int EXTENSION_BYTES = 100;

    /** Makes room for other processes of the machine. */
    private static final int PAUSE_MILLIS = 2;

    private static final int UNKNOWN = -1;

    private final int number;
    private final VolumeClient client;
    private final HistoryLog log;
    private final Random random;
    private long lastValue;
    private int tokenFolder = UNKNOWN;
    private long ownSize = UNKNOWN;

    /** The content of the own file; null if it is unknown. */
    private byte @Nullable [] ownContent;

    private volatile boolean isEnding;

    /**
     * @param number the number of the client, which no other client has
     */
    RandomClientOperations(int number, VolumeClient client, HistoryLog log, long seed) {
        this.number = number;
        this.client = client;
        this.log = log;
        this.random = new Random(seed + number);
        this.lastValue = (long) number << 32;
    }

    static FilePath ownFile(int client) {
        return FilePath.of("/own-" + client);
    }

    /** Returns the byte that a client writes to its file. */
    static byte ownByte(int client) {
        return (byte) ('A' + client % 26);
    }

    static FilePath token(int client, long folder) {
        return FilePath.of("/folder-%d-%d/token".formatted(client, folder));
    }

    /** Lets {@link #run} return. */
    void end() {
        isEnding = true;
    }

    /** Executes random operations until {@link #end}. */
    void run() throws FabricException {
        create();
        while (!isEnding) {
            try {
                try (var registers = client.open(REGISTER_FILE, Creation.EXISTING, 0);
                        var own = client.open(ownFile(number), Creation.IF_MISSING, 0644)) {
                    for (var i = 0; i < 20 && !isEnding; i++) {
                        step(registers, own);
                        pause();
                    }
                }
                log.durable(DataFile.REGISTERS);
                log.durable(DataFile.OWN);
            } catch (VolumeException e) {
                tolerateLostSession(e);
            }
        }
    }

    /** A client that had no processor for longer than its session lost it. */
    private void tolerateLostSession(VolumeException e) throws VolumeException {
        if (e.failure() != Failure.SESSION_LOST) {
            throw e;
        }
        log.sessionLost();
        ownIsUnknown();
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE_MILLIS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @FunctionalInterface
    private interface Action {
        void run() throws FabricException;
    }

    private void create() throws FabricException {
        log.begin(Kind.CREATE, 0);
        for (var i = 0; i < 2; i++) {
            var folder = FilePath.of("/folder-%d-%d".formatted(number, i));
            createOnce(() -> client.createFolder(folder, 0755));
        }
        createOnce(() -> client.open(token(number, 0), Creation.NEW, 0644).close());
        log.end();
        tokenFolder = 0;
    }

    /** Creates a file or folder. An attempt whose session was lost may have succeeded. */
    private static void createOnce(Action action) throws FabricException {
        for (var isRepeated = false; ; isRepeated = true) {
            try {
                action.run();
                return;
            } catch (VolumeException e) {
                if (isRepeated && e.failure() == Failure.EXISTS) {
                    return;
                }
                if (e.failure() != Failure.SESSION_LOST) {
                    throw e;
                }
            }
        }
    }

    private void step(FileHandle registers, FileHandle own) throws FabricException {
        switch (random.nextInt(10)) {
            case 0, 1, 2 -> writeRegister(registers);
            case 3, 4, 5 -> readRegister(registers);
            case 6 -> append();
            case 7 -> move();
            case 8 -> resize(own);
            default -> increment();
        }
    }

    /** Runs an action; returns false if the volume is full. */
    private boolean hasSpace(Action action) throws FabricException {
        try {
            action.run();
            return true;
        } catch (VolumeException e) {
            if (e.failure() != Failure.NO_SPACE) {
                throw e;
            }
            log.rejected(e.failure());
            return false;
        }
    }

    private void writeRegister(FileHandle file) throws FabricException {
        var register = random.nextInt(REGISTERS);
        var value = ++lastValue;
        var memory = MemorySegment.ofArray(new byte[REGISTER_BYTES]);
        for (var i = 0; i < REGISTER_BYTES / Long.BYTES; i++) {
            memory.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i, value);
        }
        log.begin(Kind.WRITE, register, value);
        if (hasSpace(() -> file.write((long) register * REGISTER_BYTES, memory))) {
            log.end();
            if (random.nextBoolean()) {
                file.force();
                log.durable(DataFile.REGISTERS);
            }
        }
    }

    private void readRegister(FileHandle file) throws FabricException {
        var register = random.nextInt(REGISTERS);
        log.begin(Kind.READ, register);
        log.end(readRegister(file, register));
    }

    /** Reads a register. Returns the values of its words, which are equal after complete writes. */
    static Set<Long> readRegister(FileHandle file, int register) throws FabricException {
        var memory = MemorySegment.ofArray(new byte[REGISTER_BYTES]);
        var count = file.read((long) register * REGISTER_BYTES, memory);
        var values = new TreeSet<Long>();
        for (var i = 0; i < count / Long.BYTES; i++) {
            values.add(memory.getAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i));
        }
        return values.isEmpty() ? Set.of(0L) : values;
    }

    private void append() throws FabricException {
        var value = ++lastValue;
        var memory = MemorySegment.ofArray(new byte[RECORD_BYTES]);
        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, value);
        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, 8, ~value);
        boolean isAppended;
        try (var file = client.open(APPENDED_FILE, Creation.EXISTING, 0)) {
            log.begin(Kind.APPEND, value);
            isAppended =
                    hasSpace(() -> {
                        var _ = file.append(memory);
                    });
        }
        if (isAppended) {
            log.end(); // durable, because the file was closed
        }
    }

    private void move() throws FabricException {
        if (tokenFolder == UNKNOWN) {
            log.begin(Kind.FIND, 0);
            tokenFolder = findToken();
            log.end(tokenFolder);
        }
        var source = tokenFolder;
        var target = random.nextInt(2);
        if (target == source) {
            if (client.attributes(token(number, source)).isFolder()) {
                throw new AssertionError("The token is a folder");
            }
            return;
        }
        log.begin(Kind.MOVE, target);
        tokenFolder = UNKNOWN;
        client.rename(token(number, source), token(number, target), false);
        log.end();
        tokenFolder = target;
    }

    private int findToken() throws FabricException {
        for (var folder = 0; ; folder++) {
            try {
                var _ = client.attributes(token(number, folder));
                return folder;
            } catch (VolumeException e) {
                if (e.failure() != Failure.NOT_FOUND || folder == 1) {
                    throw e;
                }
            }
        }
    }

    private void resize(FileHandle own) throws FabricException {
        if (ownSize != UNKNOWN) {
            checkOwnSize(own.size());
            checkOwnContent(own);
        }
        var size = random.nextInt(50_000);
        var isExtending = random.nextBoolean();
        truncate(own, isExtending ? 0 : size);
        if (isExtending) {
            extend(own, size);
        }
        if (ownSize != UNKNOWN) {
            var attributes = client.attributes(ownFile(number));
            var _ = own.size(); // fails if the session was lost, and its data with it
            checkOwnSize(attributes.size());
            checkOwnContent(own);
        }
    }

    private void ownIsUnknown() {
        ownSize = UNKNOWN;
        ownContent = null;
    }

    private void truncate(FileHandle own, int size) throws FabricException {
        var before = size == 0 ? new byte[0] : ownContent;
        ownIsUnknown();
        log.begin(Kind.TRUNCATE, size);
        own.truncate(size);
        log.end();
        ownSize = size;
        ownContent = before == null ? null : Arrays.copyOf(before, size);
    }

    /** Writes after the end of an empty file. */
    private void extend(FileHandle own, int position) throws FabricException {
        var size = position + EXTENSION_BYTES;
        var content = new byte[size];
        Arrays.fill(content, position, size, ownByte(number));
        ownIsUnknown();
        log.begin(Kind.EXTEND, size);
        if (hasSpace(
                () ->
                        own.write(
                                position,
                                MemorySegment.ofArray(content)
                                        .asSlice(position, EXTENSION_BYTES)))) {
            log.end();
            ownSize = size;
            ownContent = content;
        }
    }

    private void checkOwnContent(FileHandle own) throws FabricException {
        if (ownContent != null && ownSize > 0) {
            var content = new byte[(int) ownSize];
            var _ = own.read(0, MemorySegment.ofArray(content));
            var difference = Arrays.mismatch(content, ownContent);
            if (difference >= 0) {
                throw new AssertionError(
                        "%s has %d at byte %d of %d instead of %d"
                                .formatted(
                                        ownFile(number),
                                        content[difference],
                                        difference,
                                        ownSize,
                                        ownContent[difference]));
            }
        }
    }

    private void checkOwnSize(long size) {
        if (size != ownSize) {
            throw new AssertionError(
                    "%s has %d bytes instead of %d".formatted(ownFile(number), size, ownSize));
        }
    }

    private void increment() throws FabricException {
        var isWritten = false;
        try (var file = client.open(COUNTER_FILE, Creation.EXISTING, 0)) {
            if (!file.lock(0, Long.BYTES, false, true)) {
                throw new AssertionError("A lock that waits was not acquired");
            }
            var memory = MemorySegment.ofArray(new byte[Long.BYTES]);
            var value = readCounter(file) + 1;
            memory.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, value);
            log.begin(Kind.INCREMENT, value);
            isWritten = hasSpace(() -> file.write(0, memory));
            file.force();
            file.unlock(0, Long.BYTES, false);
        }
        if (isWritten) {
            log.end();
        }
    }

    static long readCounter(FileHandle file) throws FabricException {
        var memory = MemorySegment.ofArray(new byte[Long.BYTES]);
        return file.read(0, memory) == 0 ? 0 : memory.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
    }
}
