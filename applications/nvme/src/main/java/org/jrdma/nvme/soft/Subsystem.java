package org.jrdma.nvme.soft;

import static java.nio.charset.StandardCharsets.UTF_8;

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
 * <p>A program adds the namespaces before it creates the first controller. Safe for use by multiple
 * threads.
 */
public final class Subsystem {

    /** The id of the vendor of all controllers. */
    static final int VENDOR_ID = 0x1234;

    private static final Pattern SERIAL_NUMBER = Pattern.compile("[ -~]{1,20}");
    private static final Pattern MODEL_NUMBER = Pattern.compile("[ -~]{1,40}");

    private final String serialNumber;
    private final String modelNumber;
    private final String qualifiedName;
    private final @Nullable Supplier<DiscoveryLog> discovery;
    private final List<Namespace> namespaces = new CopyOnWriteArrayList<>();
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
     * Adds a namespace. The caller remains the owner of the storage.
     *
     * @return the id of the namespace, from 1
     * @throws IllegalStateException if the subsystem has a controller
     */
    public synchronized int addNamespace(BlockStorage storage) {
        if (!controllerIds.isEmpty()) {
            throw new IllegalStateException(
                    "A namespace cannot be added, because the subsystem has controllers");
        }
        var id = namespaces.size() + 1;
        namespaces.add(
                new Namespace(id, storage, (host, type) -> notifyControllers(id, host, type)));
        return id;
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

    int namespaceCount() {
        return namespaces.size();
    }

    List<Namespace> namespaces() {
        return namespaces;
    }

    /** Returns the namespace with an id, or null. */
    @Nullable Namespace namespace(int id) {
        return id >= 1 && id <= namespaces.size() ? namespaces.get(id - 1) : null;
    }
}
