package org.jrdma.soft.sisci.abi;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.soft.sisci.fabric.Descriptor;
import org.jrdma.soft.sisci.fabric.Refusal;

/** The library itself, descriptors, and texts. */
final class LibraryExports {

    private static final Map<Integer, String> ERRORS = errors();

    private final Library library;

    LibraryExports(Library library) {
        this.library = library;
    }

    static void noFlags(int flags) {
        Refusal.when(flags != 0, sisci_h.SCI_ERR_ILLEGAL_FLAG());
    }

    @Exported("SCIInitialize")
    void initialise(int flags) {
        noFlags(flags);
        library.initialise();
    }

    @Exported(value = "SCITerminate", reports = false)
    void terminate() {
        library.terminate();
    }

    @Exported("SCIOpen")
    void open(long descriptor, int flags) {
        noFlags(flags);
        Memory.setLong(descriptor, library.handles().add(library.member().open()));
    }

    @Exported("SCIClose")
    void close(long descriptor, int flags) {
        noFlags(flags);
        library.member();
        library.handles().object(descriptor, Descriptor.class).close();
        library.handles().release(descriptor);
    }

    @Exported(value = "SCIGetErrorString", reports = false)
    long errorString(int error) {
        return Memory.text(ERRORS.getOrDefault(error, "unknown error 0x%X".formatted(error)));
    }

    @Exported(value = "SCIGetAdapterTypeString", reports = false)
    long adapterTypeString(@SuppressWarnings("unused") int type) {
        return Memory.text("software");
    }

    /** The names in the header, in words. */
    private static Map<Integer, String> errors() {
        var errors = new HashMap<Integer, String>();
        Arrays.stream(sisci_h.class.getMethods())
                .filter(method -> method.getName().startsWith("SCI_ERR_"))
                .filter(method -> !method.getName().equals("SCI_ERR_MASK"))
                .sorted((left, right) -> left.getName().compareTo(right.getName()))
                .forEach(method -> {
                    var words =
                            method.getName()
                                    .substring("SCI_ERR_".length())
                                    .replace('_', ' ')
                                    .toLowerCase(java.util.Locale.ROOT);
                    try {
                        errors.merge(
                                (Integer) method.invoke(null),
                                words,
                                (first, second) -> first + ", or " + second);
                    } catch (ReflectiveOperationException e) {
                        throw new LinkageError(method.getName(), e);
                    }
                });
        return Map.copyOf(errors);
    }
}
