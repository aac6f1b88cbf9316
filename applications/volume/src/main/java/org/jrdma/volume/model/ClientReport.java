package org.jrdma.volume.model;

import java.util.Optional;

/**
 * The state of a client, as it reports it to the coordinator.
 *
 * @param name the name of the client
 * @param version the version of its software
 * @param coordinator its connection to the coordinator, or to the server of the redirection
 * @param redirection the redirection of its requests; empty if it reaches the coordinator
 * @param data its path to the data
 */
public record ClientReport(
        String name,
        String version,
        ConnectionDescription coordinator,
        Optional<RequestRedirection> redirection,
        DataPathState data) {}
