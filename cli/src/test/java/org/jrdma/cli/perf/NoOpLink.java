package org.jrdma.cli.perf;

/** A link that transfers nothing. */
final class NoOpLink implements LinkEnd {

    @Override
    public void exchange(int bytes) {}

    @Override
    public void stream(int bytes, int count) {}

    @Override
    public void close() {}
}
