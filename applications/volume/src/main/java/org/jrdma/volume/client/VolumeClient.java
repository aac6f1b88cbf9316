package org.jrdma.volume.client;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.metadata.Attributes;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.metadata.Encoder;
import org.jrdma.volume.metadata.Superblock;
import org.jrdma.volume.model.ClientReport;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;
import org.jrdma.volume.protocol.FolderEntry;
import org.jrdma.volume.protocol.LeaseMode;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.jrdma.volume.protocol.RequestHeader;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client of a volume. Operations block. They continue across the loss of a coordinator, of
 * connections and of paths to the data, and fail only if none works for the retry timeout.
 *
 * <p>Safe for use by multiple threads.
 */
public final class VolumeClient implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(VolumeClient.class);

    /** The condition under which a file is opened. The order is part of the protocol. */
    public enum Creation {
        /** The file must exist. */
        EXISTING,
        /** The file is created if it does not exist. */
        IF_MISSING,
        /** The file is created, and must not exist. */
        NEW
    }

    /**
     * The capacity of a volume.
     *
     * @param blocks the number of blocks for data
     * @param free the number of blocks that can be allocated
     * @param files the number of files and folders
     */
    public record Capacity(long blocks, long free, long files) {}

    private final RetryTimeout retry;
    private final VolumeIdentity volume;
    private final ClientSession session;
    private final DataPathSelector paths;
    private final Map<Long, OpenFile> files = new HashMap<>();
    private volatile @Nullable DriveBlockServer blocks;

    /** Held for reading while a file is opened, and for writing while one is closed. */
    private final ReentrantReadWriteLock opening = new ReentrantReadWriteLock();

    /**
     * Connects to the coordinator, or to a standby that forwards the requests.
     *
     * @param direct the drive of the volume; empty if this node has no path to it. The caller
     *     closes it after this client
     * @throws FabricException if there is no coordinator, or the drive contains another volume
     */
    public VolumeClient(ClientOptions options, ServerConnector connector, Optional<Drive> direct)
            throws FabricException {
        this.retry = new RetryTimeout(options.retryTimeout());
        var deadline = retry.deadline();
        this.volume = new VolumeIdentity(direct, deadline);
        this.session =
                new ClientSession(options, connector, new Files(), volume, direct, retry, deadline);
        this.paths =
                new DataPathSelector(
                        options,
                        connector,
                        session,
                        retry,
                        direct,
                        direct.map(Drive::blocks).orElse(Long.MAX_VALUE / Drive.BLOCK_BYTES),
                        loss -> openFiles().forEach(file -> file.dataLost(loss)));
        session.report(paths::state);
    }

    /** The open files, as the session needs them. */
    private final class Files implements SessionFileCallbacks {

        @Override
        public List<Report> reports() {
            var reports = new ArrayList<Report>();
            for (var file : openFiles()) {
                var encoder = new Encoder();
                file.report(encoder);
                reports.add(new Report(Operation.RECLAIM, encoder.bytes()));
            }
            return reports;
        }

        @Override
        public void sessionLost() {
            openFiles().forEach(OpenFile::sessionLost);
        }

        @Override
        public ByteBuffer recall(ByteBuffer request) {
            try {
                var decoder = new Decoder(request);
                var header = RequestHeader.decode(decoder);
                if (header.operation() == Operation.REVOKE) {
                    var server = blocks;
                    return server == null
                            ? ByteBuffer.wrap(ReplyEncoding.empty())
                            : server.handleRevocation(request);
                }
                if (header.operation() != Operation.RECALL) {
                    throw new VolumeException(
                            Failure.INVALID, "A client does not execute " + header.operation());
                }
                var id = decoder.readLong();
                var number = decoder.readLong();
                var keep = LeaseMode.decode(decoder);
                decoder.end();
                var file = openFile(id);
                if (file != null) {
                    file.recall(number, keep);
                }
                if (keep != LeaseMode.WRITE) {
                    paths.preventLateWrites();
                }
                return ByteBuffer.wrap(ReplyEncoding.empty());
            } catch (FabricException e) { // the coordinator repeats the recall
                var failure =
                        e instanceof VolumeException known
                                ? known
                                : new VolumeException(String.valueOf(e.getMessage()), e);
                return ByteBuffer.wrap(ReplyEncoding.failure(failure));
            }
        }
    }

    private List<OpenFile> openFiles() {
        synchronized (files) {
            return List.copyOf(files.values());
        }
    }

    /**
     * Creates the service for clients that have no path to the drive.
     *
     * @param drive the drive that this node shares
     * @throws FabricException if the drive fails
     */
    public DriveBlockServer newBlockService(Drive drive) throws FabricException {
        var service = new DriveBlockServer(drive, Superblock.read(drive).data().block(), session);
        blocks = service;
        return service;
    }

    /**
     * Creates a relay for clients that do not reach the coordinator. The caller closes it.
     *
     * @param name the name of this server
     * @param callTimeout the longest wait for a reply of the coordinator
     */
    public RequestRelay newRelay(String name, ServerConnector connector, Duration callTimeout) {
        return new RequestRelay(name, connector, session, callTimeout);
    }

    /** Returns the identity of the volume, which is the same at all its clients. */
    public UUID volumeId() {
        return volume.id();
    }

    /** Returns the connections of this client. */
    public ClientReport state() {
        return session.state();
    }

    /** Returns the path to the data, and how the coordinator is reached, for messages. */
    public String describe() {
        var state = state();
        return "data: %s; coordinator: %s%s"
                .formatted(
                        paths.describe(),
                        state.coordinator().transport(),
                        state.redirection().map(server -> ", redirected to " + server).orElse(""));
    }

    /**
     * Returns the attributes of a file or folder.
     *
     * @throws FabricException if it does not exist, or no coordinator works
     */
    public Attributes attributes(FilePath path) throws FabricException {
        while (true) {
            var committed = lookup(path);
            var file = openFile(committed.id());
            var current = file == null ? committed : file.withUncommitted(committed);
            if (current != null) {
                return current;
            }
        }
    }

    private Attributes lookup(FilePath path) throws FabricException {
        return Attributes.decode(session.call(Operation.LOOKUP, path::encode));
    }

    private @Nullable OpenFile openFile(long id) {
        synchronized (files) {
            return files.get(id);
        }
    }

    /**
     * Returns entries of a folder in the order of their names.
     *
     * @param after the name after which to start; empty for the first entry
     * @return up to {@link FolderEntry#MAX_ENTRIES} entries; none at the end
     * @throws FabricException if the path is not a folder, or no coordinator works
     */
    public List<FolderEntry> list(FilePath path, String after) throws FabricException {
        return session.call(
                        Operation.LIST,
                        encoder -> {
                            path.encode(encoder);
                            encoder.writeText(after);
                        })
                .readList(FolderEntry.MAX_ENTRIES, FolderEntry::decode);
    }

    /**
     * Creates a folder.
     *
     * @throws FabricException if it exists, its parent does not exist, or no coordinator works
     */
    public void createFolder(FilePath path, int mode) throws FabricException {
        var _ =
                session.callOnce(
                        Operation.CREATE_FOLDER,
                        encoder -> {
                            path.encode(encoder);
                            encoder.writeInt(mode);
                        });
    }

    /**
     * Removes a file or an empty folder. Handles of the file remain usable.
     *
     * @throws FabricException if it does not exist or is not empty, or no coordinator works
     */
    public void remove(FilePath path) throws FabricException {
        var _ = session.callOnce(Operation.REMOVE, path::encode);
    }

    /**
     * Moves a file or folder in one step.
     *
     * @param isReplacing true to replace a file or an empty folder
     * @throws FabricException if the move is impossible, or no coordinator works
     */
    public void rename(FilePath from, FilePath to, boolean isReplacing) throws FabricException {
        var _ =
                session.callOnce(
                        Operation.RENAME,
                        encoder -> {
                            from.encode(encoder);
                            to.encode(encoder);
                            encoder.writeBoolean(isReplacing);
                        });
    }

    /**
     * Sets the mode, or the time of modification in nanoseconds since 1970, or both. Commits the
     * data that clients have written before if the time is set, because a later commit would
     * replace it.
     *
     * @throws FabricException if the file does not exist, or no coordinator works
     */
    public void setAttributes(FilePath path, OptionalInt mode, OptionalLong modified)
            throws FabricException {
        if (modified.isPresent()) {
            var file = openFile(lookup(path).id());
            if (file != null) {
                file.commit();
            }
        }
        var _ =
                session.callOnce(
                        Operation.SET_ATTRIBUTES,
                        encoder -> {
                            path.encode(encoder);
                            encoder.writeBoolean(mode.isPresent());
                            encoder.writeInt(mode.orElse(0));
                            encoder.writeBoolean(modified.isPresent());
                            encoder.writeLong(modified.orElse(0));
                        });
    }

    /**
     * Returns the capacity of the volume.
     *
     * @throws FabricException if no coordinator works
     */
    public Capacity capacity() throws FabricException {
        var reply = session.call(Operation.CAPACITY, _ -> {});
        return new Capacity(reply.readLong(), reply.readLong(), reply.readLong());
    }

    /**
     * Opens a file.
     *
     * @param mode the mode of a file that is created
     * @throws FabricException if the file cannot be opened, or no coordinator works
     */
    public FileHandle open(FilePath path, Creation creation, int mode) throws FabricException {
        opening.readLock().lock();
        try {
            var condition = creation;
            while (true) {
                var term = session.term();
                var sent = condition;
                var attributes =
                        Attributes.decode(
                                session.callOnce(
                                        Operation.OPEN,
                                        encoder -> {
                                            path.encode(encoder);
                                            encoder.writeEnum(sent);
                                            encoder.writeInt(mode);
                                        }));
                synchronized (files) {
                    if (session.term() == term) { // otherwise, the new coordinator does not know it
                        var file =
                                files.computeIfAbsent(
                                        attributes.id(),
                                        _ ->
                                                new OpenFile(
                                                        session,
                                                        paths,
                                                        attributes,
                                                        path.toString()));
                        file.handles++;
                        return new FileHandle(this, file);
                    }
                }
                condition = Creation.EXISTING;
            }
        } finally {
            opening.readLock().unlock();
        }
    }

    /** Closes a file if no other handle uses it. */
    void close(OpenFile file) throws FabricException {
        opening.writeLock().lock();
        try {
            synchronized (files) {
                if (--file.handles > 0) {
                    return;
                }
            }
            try (Release _ = () -> release(file)) {
                file.close();
            }
        } finally {
            synchronized (files) {
                if (file.handles == 0) {
                    files.remove(file.id());
                }
            }
            opening.writeLock().unlock();
        }
    }

    /** Runs after a failure, too. Its own failure is then suppressed. */
    @FunctionalInterface
    interface Release extends AutoCloseable {
        @Override
        void close() throws FabricException;
    }

    private void release(OpenFile file) throws FabricException {
        paths.preventLateWrites(); // otherwise, the coordinator keeps the lease until it recalls it
        try {
            var _ = session.call(Operation.CLOSE, encoder -> encoder.writeLong(file.id()));
        } catch (VolumeException e) {
            if (e.failure() != Failure.SESSION_LOST) {
                throw e;
            }
        }
    }

    /**
     * Lets later operations fail at once after one of them has missed a coordinator for the retry
     * timeout. Called before the files are closed, and then this client.
     */
    public void startClosing() {
        retry.startClosing();
    }

    /**
     * Commits the data written to all files, and ends the session. Waits for accesses in progress,
     * and for a missing coordinator once for all files. Failures are logged. If the drive may still
     * execute a write that has failed, the session ends after its timeout.
     */
    @Override
    public void close() {
        startClosing();
        for (var file : openFiles()) {
            try {
                file.close();
            } catch (FabricException e) {
                LOG.warn("Data of file {} was lost", file.id(), e);
            }
        }
        var server = blocks;
        if (server != null) {
            server.close();
        }
        var isEnding = preventsLateWrites();
        paths.close();
        session.registration().end();
        session.close(isEnding);
    }

    private boolean preventsLateWrites() {
        try {
            paths.preventLateWrites();
            return true;
        } catch (FabricException e) {
            LOG.warn("The coordinator ends the session later, because a write may be pending", e);
            return false;
        }
    }
}
