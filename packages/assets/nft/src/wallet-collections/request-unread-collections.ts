import type { Chain } from '@chainstead/chains';
import { addressBytes, type Database, sql } from '@chainstead/db';
import { notifyDue } from '@chainstead/jobs';
import { COLLECTION_METADATA } from '../collections/collection-rows.ts';
import { leaveUnlessAway } from '../records/request-unread-tokens.ts';
import type { WalletCollection } from './get-wallet-collections.ts';

const PER_PAGE_MAX = 20;
/** Explicit requests of clients come first: then pages add none. */
const WAITING_MAX = 500;

/** Except possible spam. They count for no key, and start no backfill. */
export async function requestUnreadCollections(
  database: Database,
  chain: Chain,
  collections: readonly Pick<WalletCollection, 'address' | 'isUnread' | 'possibleSpam'>[],
): Promise<void> {
  const unread = collections
    .filter(({ isUnread, possibleSpam }) => isUnread && !possibleSpam)
    .slice(0, PER_PAGE_MAX);
  if (unread.length === 0) return;
  await leaveUnlessAway(async () => {
    const left = await database.query(
      sql`INSERT INTO nft_collections (token_address, chain_id, status, due_at)
       SELECT unread.address, ${chain.id}, 'pending', now() FROM unnest(${unread.map(({ address }) => addressBytes(address))}::bytea[]) AS unread(address)
        WHERE (SELECT count(*) FROM (SELECT 1 FROM nft_collections
          WHERE due_at <= now() AND status NOT IN ('not-nft', 'not-contract') LIMIT ${WAITING_MAX}) AS waiting) < ${WAITING_MAX}
        ORDER BY unread.address ON CONFLICT DO NOTHING RETURNING chain_id`,
    );
    if (left.length > 0) await notifyDue(database, COLLECTION_METADATA, chain.id);
  });
}
