package org.jrdma.nvme.soft;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jrdma.nvme.model.DiscoveryLog;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.model.QualifiedName;
import org.jspecify.annotations.Nullable;

/**
 * A drive: namespaces, and the controllers by which hosts access them. Several controllers of one
 * subsystem are lent as devices of their own, like the virtual functions of a drive.
 *
 * <p>A program can add, resize and remove namespaces at any time. Safe for use by multiple threads.
 */
public final class Subsystem {

    /** The id of the vendor of all controllers. */
    static final int VENDOR_ID = 0x1234;

    /** The number of namespaces that a subsystem can have had, and the largest id of them. */
    static final int MAX_NAMESPACES = 1024;

    private static final Pattern SERIAL_NUMBER = Pattern.compile("[ -~]{1,20}");
    private static final Pattern MODEL_NUMBER = Pattern.compile("[ -~]{1,40}");

    private final String serialNumber;
    private final String modelNumber;
    private final String qualifiedName;
    private final @Nullable Supplier<DiscoveryLog> discovery;

    /** The namespaces in the order of their ids. Immutable; replaced with each change. */
    private volatile List<Namespace> namespaces = List.of();

    private int lastNamespaceId;
    private final BitSet controllerIds = new BitSet();
    private final List<ControllerCore> controllers = new CopyOnWriteArrayList<>();

    /**
     * Creates a subsystem without namespaces, whose qualified name is derived from the other names.
     *
     * @param serialNumber 1 to 20 printable ASCII characters
     * @param modelNumber 1 to 40 printable ASCII characters
     * @throws IllegalArgumentException if a text is invalid
     */
    public Subsystem(String serialNumber, String modelNumber) {
        this(
                serialNumber,
                modelNumber,
                QualifiedName.of(uuid(serialNumber, modelNumber, "subsystem")));
    }

    /**
     * Creates a subsystem without namespaces.
     *
     * @param serialNumber 1 to 20 printable ASCII characters
     * @param modelNumber 1 to 40 printable ASCII characters
     * @param qualifiedName the name by which hosts on a network connect to the subsystem
     * @throws IllegalArgumentException if a text is invalid
     */
    public Subsystem(String serialNumber, String modelNumber, String qualifiedName) {
        this(serialNumber, modelNumber, qualifiedName, null);
    }

    private Subsystem(
            String serialNumber,
            String modelNumber,
            String qualifiedName,
            @Nullable Supplier<DiscoveryLog> discovery) {
        check("serial number", SERIAL_NUMBER, serialNumber);
        check("model number", MODEL_NUMBER, modelNumber);
        this.serialNumber = serialNumber;
        this.modelNumber = modelNumber;
        this.qualifiedName = QualifiedName.requireValid(qualifiedName);
        this.discovery = discovery;
    }

    /** Returns the discovery subsystem of a target. */
    static Subsystem discovery(Supplier<DiscoveryLog> log) {
        return new Subsystem("discovery", "jrdma discovery", QualifiedName.DISCOVERY, log);
    }

    private static void check(String field, Pattern pattern, String text) {
        if (!pattern.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "The %s \"%s\" does not match %s".formatted(field, text, pattern));
        }
    }

    /**
     * Adds a namespace. If hosts use the subsystem, its controllers report the change to the hosts
     * that have asked for such events. The caller remains the owner of the storage.
     *
     * @return the id of the namespace, from 1. The id of a removed namespace is not used again,
     *     because a host could take the new namespace for the removed one
     * @throws IllegalStateException if 1,024 namespaces have been added to the subsystem
     */
    public int addNamespace(BlockStorage storage) {
        int id;
        synchronized (this) {
            if (lastNamespaceId == MAX_NAMESPACES) {
                throw new IllegalStateException(
                        "A namespace cannot be added, because the subsystem has had %d of them. Use another subsystem."
                                .formatted(MAX_NAMESPACES));
            }
            id = ++lastNamespaceId;
            var all = new ArrayList<>(namespaces);
            all.add(new Namespace(id, storage, (host, type) -> notifyControllers(id, host, type)));
            namespaces = List.copyOf(all);
        }
        notifyChange(id);
        return id;
    }

    /**
     * Changes the number of blocks of a namespace in memory or in a file. Waits for the commands
     * that access its blocks. The remaining blocks keep their contents. New blocks in memory are
     * zero. A file is extended if necessary, but never truncated.
     *
     * @param id the id of the namespace
     * @param blocks the new number of blocks
     * @throws IllegalArgumentException if there is no such namespace, or the number is invalid
     * @throws UnsupportedOperationException if the namespace is on a drive
     * @throws IOException if the file cannot be mapped. The namespace keeps its size
     */
    public void resizeNamespace(int id, long blocks) throws IOException {
        requireNamespace(id).resize(blocks);
        notifyChange(id);
    }

    /**
     * Removes a namespace. Waits for the commands that access its blocks; later commands fail with
     * an invalid namespace. After that, the program can close the storage.
     *
     * @param id the id of the namespace
     * @throws IllegalArgumentException if there is no such namespace
     */
    public void removeNamespace(int id) {
        requireNamespace(id).remove();
        synchronized (this) {
            namespaces = namespaces.stream().filter(each -> each.id() != id).toList();
        }
        notifyChange(id);
    }

    private Namespace requireNamespace(int id) {
        var namespace = namespace(id);
        if (namespace == null) {
            throw new IllegalArgumentException(
                    "The subsystem %s has no namespace %d".formatted(qualifiedName, id));
        }
        return namespace;
    }

    private void notifyChange(int namespace) {
        controllers.forEach(controller -> controller.notifyNamespace(namespace));
    }

    /** Creates a controller, which a {@link org.jrdma.soft.sisci.device.DeviceHost} can run. */
    public NvmeController newController() {
        return new NvmeController(this, takeControllerId());
    }

    /** Returns an id that no controller has, from 1. */
    synchronized int takeControllerId() {
        var id = controllerIds.nextClearBit(1);
        controllerIds.set(id);
        return id;
    }

    /** Allows another controller to use the id of a controller that has ended. */
    void returnControllerId(int id) {
        namespaces.forEach(namespace -> namespace.controllerEnded(id));
        synchronized (this) {
            controllerIds.clear(id);
        }
    }

    void add(ControllerCore controller) {
        controllers.add(controller);
    }

    void remove(ControllerCore controller) {
        controllers.remove(controller);
    }

    private void notifyControllers(int namespace, HostIdentifier host, int type) {
        for (var controller : controllers) {
            controller.notifyReservation(namespace, host, type);
        }
    }

    /** Returns true if a controller or a reservation has a host identifier of a format. */
    boolean hasHosts(boolean isExtended) {
        return controllers.stream().anyMatch(controller -> controller.hasHost(isExtended))
                || namespaces.stream().anyMatch(namespace -> namespace.hasRegistrants(isExtended));
    }

    String serialNumber() {
        return serialNumber;
    }

    String modelNumber() {
        return modelNumber;
    }

    /** Returns the name by which hosts on a network connect to the subsystem. */
    public String qualifiedName() {
        return qualifiedName;
    }

    /** Returns true for the discovery subsystem of a target, which has no namespaces. */
    boolean isDiscovery() {
        return discovery != null;
    }

    /** Returns the description of all subsystems of the target; empty in other subsystems. */
    Optional<DiscoveryLog> discoveryLog() {
        return Optional.ofNullable(discovery).map(Supplier::get);
    }

    /** Returns an id that depends only on the serial number, the model number and a name. */
    UUID uuid(String name) {
        return uuid(serialNumber, modelNumber, name);
    }

    private static UUID uuid(String serialNumber, String modelNumber, String name) {
        return UUID.nameUUIDFromBytes(
                (serialNumber + '\n' + modelNumber + '\n' + name).getBytes(UTF_8));
    }

    /** Returns the current namespaces in the order of their ids. */
    List<Namespace> namespaces() {
        return namespaces;
    }

    /** Returns the namespace with an id, or null. */
    @Nullable Namespace namespace(int id) {
        var found = namespaceAfter(id - 1);
        return found != null && found.id() == id ? found : null;
    }

    /** Returns the first namespace whose id is larger than a number, or null. */
    @Nullable Namespace namespaceAfter(int id) {
        var all = namespaces;
        var index = Math.clamp(id, 0, all.size()); // the ids are at least as large as the places
        while (index > 0 && all.get(index - 1).id() > id) {
            index--;
        }
        return index < all.size() ? all.get(index) : null;
    }
}
