import type { Chain } from '@chainstead/chains';
import { addressBytes, type Database } from '@chainstead/db';
import { leaveUnlessAway } from '../records/leave-unless-away.ts';
import type { WalletCollection } from './get-wallet-collections.ts';

/** Collections that one page has read at most. */
const PER_PAGE_MAX = 20;
/** While so many collections wait to be read, pages add none: what clients ask for by name comes first. */
const WAITING_MAX = 500;

/**
 * Leaves collections whose metadata nobody has asked for yet for the metadata worker, whose sweep finds them; possible spam
 * is left alone. In nobody's name: they count for no key, and their own blocks are not read for it.
 */
export async function requestUnreadCollections(
  database: Database,
  chain: Chain,
  collections: readonly Pick<WalletCollection, 'address' | 'isUnread' | 'possibleSpam'>[],
): Promise<void> {
  const unread = collections.filter(({ isUnread, possibleSpam }) => isUnread && !possibleSpam).slice(0, PER_PAGE_MAX);
  if (unread.length === 0) return;
  await leaveUnlessAway(() =>
    database.query(
      `INSERT INTO nft_collections (token_address, chain_id, status, due_at)
       SELECT unread.address, $1, 'pending', now() FROM unnest($2::bytea[]) AS unread(address)
        WHERE (SELECT count(*) FROM (SELECT 1 FROM nft_collections
          WHERE due_at <= now() AND status NOT IN ('not-nft', 'not-contract') LIMIT $3) AS waiting) < $3
        ORDER BY unread.address ON CONFLICT DO NOTHING`,
      [chain.id, unread.map(({ address }) => addressBytes(address)), WAITING_MAX],
    ),
  );
}
