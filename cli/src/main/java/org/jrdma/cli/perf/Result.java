package org.jrdma.cli.perf;

/** What was measured of a path with messages of one size. */
record Result(String path, int bytes, Latency latency, Bandwidth bandwidth) {}
