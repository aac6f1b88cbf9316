package org.jrdma.nvme.model;

/** The data structures of the identify command, in the lowest byte of dword 10 (CNS). */
public final class IdentifyStructureCodes {

    /** The description of a namespace, {@link IdentifyNamespace}. */
    public static final int NAMESPACE = 0;

    /** The description of the controller, {@link IdentifyController}. */
    public static final int CONTROLLER = 1;

    /** The ids of the namespaces. */
    public static final int NAMESPACE_LIST = 2;

    /** The unique ids of a namespace. */
    public static final int NAMESPACE_DESCRIPTORS = 3;

    private IdentifyStructureCodes() {}
}
