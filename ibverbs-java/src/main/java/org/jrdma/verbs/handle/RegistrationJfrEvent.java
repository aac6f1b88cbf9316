package org.jrdma.verbs.handle;

import java.util.Set;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jrdma.verbs.model.Access;

/** The JFR event that records a registration of memory. */
@Name("org.jrdma.MemoryRegistration")
@Label("RDMA memory registration")
@Description("A registration of memory with a device; the duration is that of the native call")
@Category({"jrdma", "verbs"})
@SuppressWarnings("unused") // Read by JFR.
final class RegistrationJfrEvent extends Event {

    private String device = "";

    @DataAmount private long bytes;

    private String access = "";

    void commit(String device, long bytes, Set<Access> access) {
        end();
        if (shouldCommit()) {
            this.device = device;
            this.bytes = bytes;
            this.access = Access.describe(access);
            commit();
        }
    }
}
