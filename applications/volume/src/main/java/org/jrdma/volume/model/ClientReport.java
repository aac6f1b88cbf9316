package org.jrdma.volume.model;

/**
 * The state of a client, as it reports it to the coordinator.
 *
 * @param name the name of the client
 * @param version the version of its software
 * @param coordinator its connection to the coordinator
 * @param data its path to the data
 */
public record ClientReport(
        String name, String version, ConnectionDescription coordinator, DataPathState data) {}
