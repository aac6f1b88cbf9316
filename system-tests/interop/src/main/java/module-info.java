// Programs that mirror C tools of rdma-core, so that either side of a test can be the C tool.
open module org.jrdma.interop {
    requires org.jrdma.examples;
}
