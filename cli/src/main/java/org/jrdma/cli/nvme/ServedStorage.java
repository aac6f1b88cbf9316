package org.jrdma.cli.nvme;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.Nvme;
import org.jrdma.nvme.NvmeDrive;
import org.jrdma.nvme.NvmeOptions;
import org.jrdma.nvme.model.IdentifyController;
import org.jrdma.nvme.pcie.BorrowedController;
import org.jrdma.nvme.pcie.ControllerAccess;
import org.jrdma.nvme.pcie.LocalController;
import org.jrdma.nvme.soft.BlockStorage;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.smartio.BorrowMode;
import org.jrdma.sisci.smartio.SmartIo;

/** The namespaces that a target serves, and the drive that contains them, if there is one. */
final class ServedStorage implements AutoCloseable {

    private final UUID id;
    private final List<BlockStorage> namespaces;

    /** The actions that close the resources, in order. */
    private final Deque<Runnable> closers;

    private ServedStorage(UUID id, List<BlockStorage> namespaces, Deque<Runnable> closers) {
        this.id = id;
        this.namespaces = namespaces;
        this.closers = closers;
    }

    private static ServedStorage of(UUID id, BlockStorage storage) {
        var closers = new ArrayDeque<Runnable>();
        closers.push(storage::close);
        return new ServedStorage(id, List.of(storage), closers);
    }

    /** Allocates memory. Its id is random, because the content is lost at the end. */
    static ServedStorage inMemory(long bytes, int blockBytes) {
        return of(UUID.randomUUID(), BlockStorage.inMemory(bytes / blockBytes, blockBytes));
    }

    /** Maps a file, which is created or extended if necessary. */
    static ServedStorage inFile(Path file, long bytes, int blockBytes) throws IOException {
        var storage = BlockStorage.inFile(file, bytes / blockBytes, blockBytes);
        try {
            return of(FileUuid.of(file), storage);
        } catch (IOException | RuntimeException e) {
            storage.close();
            throw e;
        }
    }

    /** Borrows a controller by SmartIO. */
    static ServedStorage onBorrowedDrive(long fabricDeviceId) throws FabricException {
        return onDrive(closers -> {
            var node = Sisci.configured().open();
            closers.push(node::close);
            var device = SmartIo.of(node).borrow(fabricDeviceId, BorrowMode.EXCLUSIVE);
            closers.push(device::close);
            return BorrowedController.of(node, device);
        });
    }

    /**
     * Opens a controller of this machine.
     *
     * @param address the address of the PCI function, such as {@code 0000:01:00.0}
     */
    static ServedStorage onLocalDrive(String address) throws FabricException {
        return onDrive(_ -> LocalController.open(address));
    }

    /** Opens a controller, and adds the objects that must be closed after it. */
    @FunctionalInterface
    private interface Opener {
        ControllerAccess open(Deque<Runnable> closers) throws FabricException;
    }

    private static ServedStorage onDrive(Opener opener) throws FabricException {
        var closers = new ArrayDeque<Runnable>();
        try {
            var access = opener.open(closers);
            closers.push(access::close);
            var drive = Nvme.open(access, NvmeOptions.DEFAULTS);
            closers.push(drive::close);
            return new ServedStorage(idOf(drive.identity()), namespacesOf(drive, closers), closers);
        } catch (Throwable e) {
            closers.forEach(Runnable::run);
            throw e;
        }
    }

    private static List<BlockStorage> namespacesOf(NvmeDrive drive, Deque<Runnable> closers)
            throws FabricException {
        var namespaces = new ArrayList<BlockStorage>();
        for (var namespace : drive.namespaces()) {
            var storage = BlockStorage.onDrive(drive, namespace);
            closers.push(storage::close);
            namespaces.add(storage);
        }
        if (namespaces.isEmpty()) {
            throw new FabricException(
                    "%s has no active namespace. Create and attach one with the tools of its vendor."
                            .formatted(drive));
        }
        return namespaces;
    }

    /** Returns an id that a drive keeps, also if another machine serves it. */
    private static UUID idOf(IdentifyController identity) {
        var key =
                "%d\n%s\n%s\n%s"
                        .formatted(
                                identity.vendorId(),
                                identity.modelNumber(),
                                identity.serialNumber(),
                                identity.subsystemName());
        return UUID.nameUUIDFromBytes(key.getBytes(UTF_8));
    }

    /** Returns the id of the storage, which no other storage has. */
    UUID id() {
        return id;
    }

    /** Returns the namespaces, at least one. */
    List<BlockStorage> namespaces() {
        return namespaces;
    }

    /** Closes the namespaces and the drive. */
    @Override
    public synchronized void close() {
        while (!closers.isEmpty()) {
            closers.pop().run();
        }
    }
}
