package org.jrdma.cli.perf;

/** Moves nothing. */
final class Idle implements Link {

    @Override
    public void exchange(int bytes) {}

    @Override
    public void stream(int bytes, int count) {}

    @Override
    public void close() {}
}
