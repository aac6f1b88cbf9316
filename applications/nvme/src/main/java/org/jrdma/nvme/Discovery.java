package org.jrdma.nvme;

import java.util.List;
import org.jrdma.nvme.model.DiscoveryEntry;

/**
 * The subsystems of a target, and of the targets to which it refers.
 *
 * @param entries the entries of all discovery logs without repetitions, including the referrals
 * @param unfollowed the referrals whose targets could not be asked
 */
public record Discovery(List<DiscoveryEntry> entries, List<UnfollowedReferral> unfollowed) {

    /**
     * A referral that was not followed.
     *
     * @param referral the entry of a discovery log
     * @param reason the reason, as a sentence
     */
    public record UnfollowedReferral(DiscoveryEntry referral, String reason) {}
}
