package org.jrdma.soft.sisci.abi;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jrdma.soft.sisci.fabric.FlagChecks;
import org.jrdma.soft.sisci.fabric.UnpublishedErrors;

/** The functions that initialize the library, open descriptors and return texts. */
final class LibraryExports extends AbstractExports {

    private static final Map<Integer, String> ERRORS = errors();

    LibraryExports(SoftSisciLibrary library) {
        super(library);
    }

    @Exported("SCIInitialize")
    void initialize(int flags) {
        FlagChecks.checkNone(flags);
        library.initialize();
    }

    @Exported(value = "SCITerminate", reports = false)
    void terminate() {
        library.terminate();
    }

    @Exported("SCIOpen")
    void open(long descriptor, int flags) {
        FlagChecks.checkNone(flags);
        ProgramMemory.setLong(descriptor, handles.add(library.process().open()));
    }

    @Exported("SCIClose")
    void close(long descriptor, int flags) {
        FlagChecks.checkNone(flags);
        descriptor(descriptor).close();
        handles.release(descriptor);
    }

    @Exported(value = "SCIGetErrorString", reports = false)
    long errorString(int error) {
        return ProgramMemory.text(
                ERRORS.getOrDefault(error, "unknown error 0x%X".formatted(error)));
    }

    @Exported(value = "SCIGetAdapterTypeString", reports = false)
    long adapterTypeString(@SuppressWarnings("unused") int type) {
        return ProgramMemory.text("software");
    }

    /**
     * Returns the message texts by error code, which are derived from the names of the constants in
     * the header.
     */
    private static Map<Integer, String> errors() {
        var errors = new HashMap<Integer, String>();
        errors.put(UnpublishedErrors.NO_SUCH_FDID, "no such fdid");
        ExportedConstants.published("SCI_ERR_")
                .forEach((name, number) -> {
                    if (!name.equals("SCI_ERR_MASK")) {
                        var words =
                                name.substring("SCI_ERR_".length())
                                        .replace('_', ' ')
                                        .toLowerCase(Locale.ROOT);
                        errors.merge(number, words, (first, second) -> first + ", or " + second);
                    }
                });
        return Map.copyOf(errors);
    }
}
