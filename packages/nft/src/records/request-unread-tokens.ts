import type { Chain } from '@chainstead/chains';
import { addressBytes, type Database } from '@chainstead/db';
import { leaveUnlessAway } from './leave-unless-away.ts';
import type { NftRecord } from './nft-record.ts';

/** Tokens that one page has read at most. */
const PER_PAGE_MAX = 20;
/** While so many tokens wait to be read, pages add none: what clients ask for by name comes first. */
const WAITING_MAX = 500;

/**
 * Leaves tokens whose metadata nobody has asked for yet for the metadata worker, whose sweep finds them; possible spam is left alone. In
 * nobody's name: they count for no key.
 */
export async function requestUnreadTokens(
  database: Pick<Database, 'query'>,
  chain: Chain,
  records: readonly Pick<NftRecord, 'address' | 'tokenId' | 'isUnread' | 'possibleSpam'>[],
): Promise<void> {
  const unread = records.filter(({ isUnread, possibleSpam }) => isUnread && !possibleSpam).slice(0, PER_PAGE_MAX);
  if (unread.length === 0) return;
  const ids = [unread.map(({ address }) => addressBytes(address)), unread.map(({ tokenId }) => tokenId)];
  await leaveUnlessAway(() =>
    database.query(
      `INSERT INTO nft_token_metadata (token_address, chain_id, token_id, status, due_at)
       SELECT unread.address, $1, unread.id, 'pending', now() FROM unnest($2::bytea[], $3::numeric[]) AS unread(address, id)
        WHERE (SELECT count(*) FROM (SELECT 1 FROM nft_token_metadata WHERE due_at <= now() LIMIT $4) AS waiting) < $4
        ORDER BY unread.address, unread.id ON CONFLICT DO NOTHING`,
      [chain.id, ...ids, WAITING_MAX],
    ),
  );
}
