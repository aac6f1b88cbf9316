package org.jrdma.verbs.model;

/**
 * Vendor-specific connection options that the drivers of both sides negotiate. In C: {@code struct
 * ibv_ece}.
 *
 * @param vendor the vendor that defines the options; not 0
 * @param options the option bits
 */
public record ConnectionVendorOptions(int vendor, int options) {}
