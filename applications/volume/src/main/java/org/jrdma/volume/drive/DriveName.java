package org.jrdma.volume.drive;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.regex.Pattern;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.sisci.Sisci;

/**
 * The name of a drive in a command or a setting: the path of a file, or the id of an NVMe
 * controller that another node lends, such as 0x401. Several of them form a group: {@code
 * stripes:0x401,0x402} or {@code mirror:/one/drive,/two/drive}. The path of a file whose name has
 * one of these forms starts with {@code ./}.
 */
public record DriveName(String text) {

    private static final Pattern DEVICE = Pattern.compile("0x[0-9a-fA-F]{1,16}");
    private static final String STRIPES = "stripes:";
    private static final String MIRROR = "mirror:";
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /** Opens or creates the drive with a name, which is that of a file or of a controller. */
    @FunctionalInterface
    public interface Opener {
        Drive open(DriveName name) throws FabricException;
    }

    /**
     * @throws IllegalArgumentException if a group does not consist of different drives
     */
    public DriveName {
        if (isGroup(text)) {
            var names = names(text);
            if (new HashSet<>(names).size() != names.size()
                    || names.stream().anyMatch(name -> name.isEmpty() || isGroup(name))) {
                throw new IllegalArgumentException(
                        "\"%s\" does not name different drives, as %s0x401,0x402 does"
                                .formatted(text, text.substring(0, text.indexOf(':') + 1)));
            }
        }
    }

    private static boolean isGroup(String text) {
        return text.startsWith(STRIPES) || text.startsWith(MIRROR);
    }

    private static List<String> names(String group) {
        return List.of(group.substring(group.indexOf(':') + 1).split(",", -1));
    }

    /** Returns true for the id of a lent controller. */
    public boolean isDevice() {
        return DEVICE.matcher(text).matches();
    }

    /** Returns true for drives that store stripes in turn. */
    public boolean isStriped() {
        return text.startsWith(STRIPES);
    }

    /** Returns true for drives with the same content. */
    public boolean isMirrored() {
        return text.startsWith(MIRROR);
    }

    /** Returns the names of the drives of a group, or this name. */
    public List<DriveName> members() {
        return isGroup(text) ? names(text).stream().map(DriveName::new).toList() : List.of(this);
    }

    /**
     * Opens an existing file, the first namespace of a lent controller, or all drives of a group. A
     * lent drive is opened again when its lender was restarted, or the link to it was cut and
     * restored. This process is a host of its own, so that the drive can refuse its writes.
     *
     * @throws FabricException if a file or a controller cannot be opened, or the drives are not a
     *     complete group
     */
    public Drive open() throws FabricException {
        return isStriped()
                ? combine(DriveName::openSingle, StripedDrive::open)
                : isMirrored() ? combine(DriveName::openSingle, MirroredDrive::open) : openSingle();
    }

    /**
     * Opens a mirror of which other drives are lost, to {@linkplain MirroredDrive#reduce() reduce}
     * it to the drives of this name.
     *
     * @throws IllegalArgumentException if this is not the name of a mirror
     * @throws FabricException if a file or a controller cannot be opened, or the drives are not
     *     those of a mirror
     */
    public MirroredDrive openIncompleteMirror() throws FabricException {
        if (!isMirrored()) {
            throw new IllegalArgumentException(
                    "\"%s\" is not a mirror, such as %s0x401".formatted(text, MIRROR));
        }
        return combine(DriveName::openSingle, MirroredDrive::openIncomplete);
    }

    /**
     * Opens or creates drives, and combines them if this is the name of a group. The content of the
     * drives of a group is lost.
     *
     * @param opener opens or creates each drive
     * @param stripeBlocks the number of consecutive blocks on one of several drives
     * @throws IllegalArgumentException if a group has a single drive
     * @throws FabricException if the opener fails, or a drive fails or is too small
     */
    public Drive create(Opener opener, int stripeBlocks) throws FabricException {
        return isStriped()
                ? combine(opener, drives -> StripedDrive.create(drives, stripeBlocks))
                : isMirrored() ? combine(opener, MirroredDrive::create) : opener.open(this);
    }

    @FunctionalInterface
    private interface Combination<T> {
        T of(List<Drive> drives) throws FabricException;
    }

    private <T> T combine(Opener opener, Combination<T> combination) throws FabricException {
        var drives = new ArrayList<Drive>();
        try {
            for (var member : members()) {
                drives.add(opener.open(member));
            }
            return combination.of(drives);
        } catch (Throwable e) {
            drives.forEach(Drive::close);
            throw e;
        }
    }

    private Drive openSingle() throws FabricException {
        return isDevice() ? borrow() : FileDrive.open(Path.of(text));
    }

    private Drive borrow() throws FabricException {
        var id = Long.parseUnsignedLong(text.substring(2), 16);
        var host = HostIdentifier.of(new SecureRandom().nextLong() | 1);
        var node = Sisci.configured().open();
        try {
            return new ReopeningDrive(
                    () -> NvmeBlockDrive.borrow(node, id, host, TIMEOUT), node::close);
        } catch (Throwable e) {
            node.close();
            throw e;
        }
    }

    @Override
    public String toString() {
        return text;
    }
}
