package org.jrdma.nvme;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.IdentifyNamespace;
import org.jrdma.nvme.model.Status;

/** Reads the namespaces of a controller. */
final class NamespaceList {

    private static final int SMALLEST_BLOCK_SHIFT = 9;
    private static final ValueLayout.OfInt INT = JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);

    private NamespaceList() {}

    /** Reads the first 1,024 namespaces, without those that this driver does not support. */
    static List<NvmeNamespace> read(AdminPageReader pages) throws FabricException {
        var result = new ArrayList<NvmeNamespace>();
        for (var id : pages.read(AdminPageKind.NAMESPACE_LIST, 0, NamespaceList::decodeIds)) {
            try {
                var description =
                        pages.read(AdminPageKind.NAMESPACE, id, IdentifyNamespace::decode);
                if (isSupported(description)) {
                    result.add(
                            new NvmeNamespace(id, description.blocks(), description.blockShift()));
                }
            } catch (NvmeException e) {
                // the namespace was removed after the list was read
                if (e.status().filter(Status.INVALID_NAMESPACE::equals).isEmpty()) {
                    throw e;
                }
            }
        }
        return List.copyOf(result);
    }

    private static List<Integer> decodeIds(MemorySegment page) {
        var ids = new ArrayList<Integer>();
        for (var i = 0; i < Configuration.PAGE_BYTES / Integer.BYTES; i++) {
            var id = page.getAtIndex(INT, i);
            if (id == 0) {
                break;
            }
            ids.add(id);
        }
        return ids;
    }

    private static boolean isSupported(IdentifyNamespace description) {
        return description.metadataBytes() == 0
                && description.blockShift() >= SMALLEST_BLOCK_SHIFT
                && description.blockShift() <= Configuration.PAGE_SHIFT
                && description.blocks() > 0
                && description.blocks() <= Long.MAX_VALUE >>> description.blockShift();
    }
}
