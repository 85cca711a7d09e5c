import type { Chain } from '@chainstead/chains';
import { addressBytes, type Database, isOutage, type Sql, sql } from '@chainstead/db';
import { notifyDue } from '@chainstead/jobs';
import { TOKEN_METADATA } from '../collections/token-rows.ts';
import type { NftRecord, RecordKey } from './nft-record.ts';

const PER_PAGE_MAX = 20;
/** Explicit requests of clients come first: then pages add none. */
const WAITING_MAX = 500;

/** Except possible spam. They count for no key. */
export async function requestUnreadTokens(
  database: Pick<Database, 'query' | 'transaction'>,
  chain: Chain,
  records: readonly Pick<NftRecord, 'address' | 'tokenId' | 'isUnread' | 'possibleSpam'>[],
): Promise<void> {
  const unread = records.filter(({ isUnread, possibleSpam }) => isUnread && !possibleSpam).slice(0, PER_PAGE_MAX);
  if (unread.length === 0) return;
  const contracts = unread.map(({ address }) => addressBytes(address));
  const ids = unread.map(({ tokenId }) => tokenId);
  await leaveUnlessAway(async () => {
    const left = await database.query(
      sql`INSERT INTO nft_token_metadata (token_address, chain_id, token_id, status, due_at)
       SELECT unread.address, ${chain.id}, unread.id, 'pending', now() FROM unnest(${contracts}::bytea[], ${ids}::numeric[]) AS unread(address, id)
        WHERE (SELECT count(*) FROM (SELECT 1 FROM nft_token_metadata WHERE due_at <= now() LIMIT ${WAITING_MAX}) AS waiting) < ${WAITING_MAX}
        ORDER BY unread.address, unread.id ON CONFLICT DO NOTHING RETURNING chain_id`,
    );
    if (left.length > 0) await notifyDue(database, TOKEN_METADATA, chain.id);
  });
}

/** For an outage of writes: the next request queues the work. */
export async function leaveUnlessAway(leave: () => Promise<unknown>): Promise<void> {
  try {
    await leave();
  } catch (error) {
    if (!isOutage(error)) throw error;
  }
}

type Token = Pick<RecordKey, 'address' | 'tokenId'>;

export function requestedTokens(tokens: readonly Token[], isSpread: boolean): Sql {
  const [first] = tokens;
  // Plain values, so that the statement goes to the contract's node.
  if (isSpread && first !== undefined)
    return sql`(SELECT ${addressBytes(first.address)}::bytea AS token_address, ${first.tokenId}::numeric AS token_id, 1::bigint AS place) AS requested`;
  const addresses = tokens.map(({ address }) => addressBytes(address));
  const ids = tokens.map(({ tokenId }) => tokenId);
  return sql`unnest(${addresses}::bytea[], ${ids}::numeric[]) WITH ORDINALITY AS requested(token_address, token_id, place)`;
}

/** In token order. One by one if tables are distributed. */
export async function readTogether<T extends Token, Row>(
  tokens: readonly T[],
  isSpread: boolean,
  read: (some: readonly T[]) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  if (!isSpread) return read(tokens);
  const found: Row[] = [];
  for (const token of tokens) found.push(...(await read([token])));
  return found;
}
