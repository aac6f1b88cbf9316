package org.jrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.LibraryProvider;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.access.VerbsAccess;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.Codes;
import org.jrdma.verbs.internal.DeviceFunctions;
import org.jrdma.verbs.internal.SoftwareFabric;
import org.jrdma.verbs.internal.VerbsContext;
import org.jrdma.verbs.internal.VerbsLibrary;
import org.jrdma.verbs.model.DeviceDescription;
import org.jrdma.verbs.model.DeviceOption;
import org.jrdma.verbs.model.ForkStatus;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.AsyncWorkQueue;
import org.jrdma.verbs.queue.NativeCompletionQueue;
import org.jrdma.verbs.queue.NativeQueuePair;
import org.jrdma.verbs.queue.NativeSharedReceiveQueue.Named;
import org.jrdma.verbs.queue.PolledWorkQueue;
import org.jspecify.annotations.Nullable;

/**
 * libibverbs, as found on this machine, in a file, or in a provider: where devices come from.
 *
 * <p>It stays open for as long as the JVM runs. Several can be in use at once. Safe for use by
 * several threads.
 */
public final class Verbs {

    static {
        VerbsAccess.open(
                new VerbsAccess() {
                    @Override
                    public DeviceHandle handle(Device device) {
                        return device.handle();
                    }

                    @Override
                    public DomainHandle handle(ProtectionDomain domain) {
                        return domain.domainHandle();
                    }

                    @Override
                    public NativeCompletionQueue<PolledWorkQueue> nativeQueue(
                            CompletionQueue queue) {
                        return queue.nativeQueue();
                    }

                    @Override
                    public NativeCompletionQueue<AsyncWorkQueue> nativeQueue(
                            CompletionDispatcher dispatcher) {
                        return dispatcher.nativeQueue();
                    }

                    @Override
                    public PolledSharedReceiveQueue sharedReceiveQueue(
                            DomainHandle domain,
                            int capacity,
                            int elements,
                            Named<PolledWorkQueue> named)
                            throws VerbsException {
                        return new PolledSharedReceiveQueue(domain, capacity, elements, named);
                    }

                    @Override
                    public AsyncSharedReceiveQueue sharedReceiveQueue(
                            DomainHandle domain,
                            int capacity,
                            int elements,
                            Duration slotTimeout,
                            Named<AsyncWorkQueue> named)
                            throws VerbsException {
                        return new AsyncSharedReceiveQueue(
                                domain, capacity, elements, slotTimeout, named);
                    }

                    @Override
                    public QueuePair.Handle handle(NativeQueuePair queuePair) {
                        return new QueuePair.Handle(queuePair);
                    }
                });
    }

    private static @Nullable Verbs system;
    private static @Nullable Verbs software;

    private final VerbsLibrary library;
    private final List<Lifetime> openDevices = new CopyOnWriteArrayList<>();

    private Verbs(VerbsLibrary library) {
        this.library = library;
    }

    /**
     * The machine's own libibverbs.
     *
     * @throws LibraryNotFoundException if it is not installed; the message names the packages
     */
    public static synchronized Verbs system() throws LibraryNotFoundException {
        if (system == null) {
            system = new Verbs(new VerbsLibrary(NativeLibrary.open(VerbsLibrary.NAME)));
        }
        return system;
    }

    /**
     * RDMA in software: a libibverbs written in Java, which needs no adapter, no kernel module and
     * no privilege. The same each time.
     *
     * @throws LibraryNotFoundException if there is none on the class path or the module path; the
     *     message says what to add
     * @throws IllegalArgumentException if a system property of its own makes no sense
     */
    public static synchronized Verbs software() throws LibraryNotFoundException {
        if (software == null) {
            software = new Verbs(new VerbsLibrary(SoftwareFabric.library()));
        }
        return software;
    }

    /**
     * What the system property {@code jrdma.fabric} says: {@link #system()} for {@code system} or
     * where it is not set, {@link #software()} for {@code software}.
     *
     * @throws LibraryNotFoundException if that is not there
     * @throws IllegalArgumentException if it says something else
     */
    public static Verbs configured() throws LibraryNotFoundException {
        var fabric = System.getProperty("jrdma.fabric", "system");
        return switch (fabric) {
            case "system" -> system();
            case "software" -> software();
            default ->
                    throw new IllegalArgumentException(
                            "jrdma.fabric is \"%s\"; it can be system or software"
                                    .formatted(fabric));
        };
    }

    /**
     * A libibverbs in a file.
     *
     * @throws LibraryNotFoundException if there is none in it
     */
    public static Verbs load(Path file) throws LibraryNotFoundException {
        return new Verbs(new VerbsLibrary(NativeLibrary.open(file)));
    }

    /**
     * A libibverbs that a provider answers for.
     *
     * @throws LibraryNotFoundException if it lacks a function that every version has
     */
    public static Verbs from(LibraryProvider provider) throws LibraryNotFoundException {
        return new Verbs(new VerbsLibrary(NativeLibrary.from(provider)));
    }

    /**
     * Whether a forked child may run without harm to registered memory. In C: {@code
     * ibv_is_fork_initialized}.
     */
    public ForkStatus forkStatus() {
        return library.devices().forkStatus().map(Codes.FORK_STATUS::of).orElse(ForkStatus.UNKNOWN);
    }

    /**
     * The devices of this machine; an empty list where there are none. In C: {@code
     * ibv_get_device_list}, {@code ibv_free_device_list}.
     *
     * @throws VerbsException if the system refuses to list them
     */
    public List<DeviceDescription> devices() throws VerbsException {
        var devices = new ArrayList<DeviceDescription>();
        library.devices()
                .visit((listed, device) -> {
                    devices.add(describe(listed));
                    return Optional.empty();
                });
        return List.copyOf(devices);
    }

    /**
     * Opens the device that the system lists first, as the C examples do when none is named: for
     * machines that have one.
     *
     * @throws VerbsException if there is none, or it cannot be opened; the message says what to do
     */
    public Device openFirst(DeviceOption... options) throws VerbsException {
        var devices = devices();
        if (devices.isEmpty()) {
            throw new VerbsException("ibv_open_device", remedyForNoDevice());
        }
        return open(devices.getFirst().name(), options);
    }

    /**
     * Opens a device by its name. In C: {@code ibv_open_device}.
     *
     * @throws VerbsException if there is no such device, or it cannot be opened; the message says
     *     what to do
     */
    public Device open(String name, DeviceOption... options) throws VerbsException {
        var critical = List.of(options).contains(DeviceOption.CRITICAL_CALLS);
        if (critical && library.library().isProvided()) {
            throw new IllegalArgumentException(
                    "CRITICAL_CALLS are refused for "
                            + library.library()
                            + ": its functions may be Java, and that would abort the JVM");
        }
        var attempt = new Attempt("ibv_open_device", () -> "for " + name, this::adviceOnOpening);
        var opened =
                PlatformCalls.call(() ->
                        library.devices()
                                .visit((listed, device) ->
                                        listed.name().equals(name)
                                                ? Optional.of(
                                                        device(
                                                                listed,
                                                                library.devices()
                                                                        .open(device, attempt),
                                                                critical))
                                                : Optional.empty()));
        if (opened.isEmpty()) {
            throw noSuchDevice(name);
        }
        return keep(opened.get());
    }

    /**
     * Opens the device that another process has open, to use what that process has made there; see
     * {@link Device#importProtectionDomain}. It is closed like any other. In C: {@code
     * ibv_import_device}.
     *
     * @param descriptor the other process's {@link Device#commandDescriptor}, come over a Unix
     *     socket say; it stays the caller's, and may be closed from now on
     * @throws VerbsException if it is of no device, or the device cannot be shared
     */
    public Device importDevice(int descriptor) throws VerbsException {
        var attempt =
                Attempt.to("ibv_import_device", () -> "from descriptor %d".formatted(descriptor));
        var context = PlatformCalls.call(() -> library.devices().importDevice(descriptor, attempt));
        try {
            var listed = library.devices().listedOf(context);
            return keep(device(listed, context, false));
        } catch (RuntimeException | Error e) {
            try {
                library.devices()
                        .close(
                                context,
                                Attempt.to("ibv_close_device", () -> "of what was imported"));
            } catch (VerbsException again) {
                e.addSuppressed(again);
            }
            throw e;
        }
    }

    private Device device(DeviceFunctions.Listed listed, MemorySegment context, boolean critical)
            throws VerbsException {
        return new Device(
                new DeviceHandle(
                        library,
                        describe(listed),
                        Path.of(listed.sysfsPath()),
                        new VerbsContext(context),
                        critical));
    }

    private Device keep(Device device) {
        var lifetime = device.handle().lifetime();
        openDevices.add(lifetime);
        lifetime.onClose(() -> openDevices.remove(lifetime));
        return device;
    }

    /**
     * The lifetimes of the devices that were opened here and are not closed, the oldest first; what
     * depends on them was made from them. For tests that look for what a program has left open.
     */
    public List<Lifetime> openDevices() {
        return List.copyOf(openDevices);
    }

    /** Where the library was found. */
    @Override
    public String toString() {
        return library.library().toString();
    }

    private static DeviceDescription describe(DeviceFunctions.Listed listed) {
        return new DeviceDescription(
                listed.name(),
                listed.verbsName(),
                listed.index() < 0 ? OptionalInt.empty() : OptionalInt.of(listed.index()),
                listed.guid(),
                Codes.NODE_TYPE.of(listed.nodeType()),
                Codes.TRANSPORT_TYPE.of(listed.transportType()));
    }

    private VerbsException noSuchDevice(String name) throws VerbsException {
        var devices = devices();
        var remedy =
                devices.isEmpty()
                        ? remedyForNoDevice()
                        : "There is "
                                + devices.stream()
                                        .map(DeviceDescription::name)
                                        .collect(Collectors.joining(", "))
                                + ".";
        return new VerbsException(
                "ibv_open_device", "There is no RDMA device named " + name + ". " + remedy);
    }

    private static String remedyForNoDevice() {
        return "This machine has no RDMA device%s. Load the driver of one, or make a software one of a network interface with \"rdma link add rxe0 type rxe netdev eth0\". Or go without: Verbs.software(), or Verbs.configured() and -Djrdma.fabric=software."
                .formatted(
                        Files.isDirectory(Path.of("/sys/class/infiniband_verbs"))
                                ? ""
                                : ", and the module ib_uverbs is not loaded");
    }

    private String adviceOnOpening(int errno) {
        var explanation = library.library().explanation();
        if (!explanation.isEmpty()) {
            return explanation;
        }
        return switch (errno) {
            case Errno.EACCES, Errno.EPERM ->
                    "The files under /dev/infiniband are not for this user; add it to the group that owns them, or pass them to the container.";
            case Errno.ENOENT, Errno.ENODEV, Errno.ENXIO ->
                    "The files under /dev/infiniband are missing; load ib_uverbs, or pass them to the container.";
            default -> "";
        };
    }
}
