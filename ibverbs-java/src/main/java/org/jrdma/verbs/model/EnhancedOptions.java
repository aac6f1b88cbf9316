package org.jrdma.verbs.model;

/**
 * What the drivers of two sides agree upon beyond the specification. In C: {@code struct ibv_ece}.
 *
 * @param vendor whose options they are; not 0
 * @param options their bits
 */
public record EnhancedOptions(int vendor, int options) {}
