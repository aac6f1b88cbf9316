package org.jrdma.cli.perf;

/** The latency and bandwidth of one operation. */
record Measurement(Latency latency, Bandwidth bandwidth) {}
