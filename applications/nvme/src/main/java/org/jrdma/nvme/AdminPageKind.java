package org.jrdma.nvme;

import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.IdentifyStructureCodes;
import org.jrdma.nvme.model.LogPage;
import org.jrdma.nvme.model.SmartLog;
import org.jspecify.annotations.Nullable;

/**
 * The kinds of data of a controller that a client of a {@link SharedControllerManager} can read.
 * The admin commands that read them have no side effects.
 */
enum AdminPageKind {
    NAMESPACE(
            0,
            "identification of namespace %s",
            AdminOpcode.IDENTIFY,
            IdentifyStructureCodes.NAMESPACE),
    CONTROLLER(
            1,
            "identification of the controller",
            AdminOpcode.IDENTIFY,
            IdentifyStructureCodes.CONTROLLER),
    NAMESPACE_LIST(
            2, "list of namespaces", AdminOpcode.IDENTIFY, IdentifyStructureCodes.NAMESPACE_LIST),
    SMART(
            3,
            "SMART log",
            AdminOpcode.GET_LOG_PAGE,
            LogPage.SMART | (SmartLog.BYTES / Integer.BYTES - 1) << 16);

    private final int code;
    private final String description;
    private final int opcode;
    private final int dword10;

    AdminPageKind(int code, String description, int opcode, int dword10) {
        this.code = code;
        this.description = description;
        this.opcode = opcode;
        this.dword10 = dword10;
    }

    /** Returns the page with a code, or null. */
    static @Nullable AdminPageKind of(int code) {
        for (var page : values()) {
            if (page.code == code) {
                return page;
            }
        }
        return null;
    }

    /** Returns the number of this page in requests to a manager. */
    int code() {
        return code;
    }

    String description(int namespace) {
        return description.formatted(Integer.toUnsignedString(namespace));
    }

    Command command(int namespace) {
        return Command.admin(opcode).withNamespace(namespace).withDwords(dword10, 0, 0);
    }
}
