import type { Address, ChainId } from '@chainstead/core';
import { addressBytes, type Database, sql, type Transaction, transactionLock } from '@chainstead/db';
import { defineApiError } from '@chainstead/http';
import { dueChannel } from '@chainstead/jobs';
import { COLLECTION_METADATA } from './collection-rows.ts';
import { TOKEN_METADATA, type TokenKey } from './token-rows.ts';

export interface Requester {
  readonly id: string;
  readonly limit: number;
}

export class TooManyWaitingError extends defineApiError('TOO_MANY_WAITING', (limit: number) => ({
  status: 429,
  message: `This key already has ${limit} contracts and tokens in the queue: retry when some of them are done`,
  details: { limit },
  headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  retryable: true,
})) {}

const RETRY_AFTER_SECONDS = 5;

/** Without `again`, only if never read or refused. @throws TooManyWaitingError */
export async function requestCollection(
  database: Database,
  chainId: ChainId,
  { address, again }: { readonly address: Address; readonly again: boolean },
  requester: Requester,
): Promise<boolean> {
  return whereRoom(database, requester, async (transaction) => {
    const rows = await transaction.query(
      sql`INSERT INTO nft_collections AS known (token_address, chain_id, status, due_at, requested_by) VALUES (${addressBytes(address)}, ${chainId}, 'pending', now(), ${requester.id})
     ON CONFLICT (token_address, chain_id) DO UPDATE SET due_at = excluded.due_at, requested_by = excluded.requested_by, attempts = 0,
       status = CASE WHEN known.status = 'known' THEN 'known' ELSE 'pending' END
     WHERE known.status IN ('not-contract', 'not-nft') OR ${again}::boolean AND NOT coalesce(known.due_at <= excluded.due_at, false)
     RETURNING chain_id`,
    );
    if (rows.length > 0) transaction.notify(dueChannel(COLLECTION_METADATA, chainId));
    return rows.length > 0;
  });
}

/** `metadata`: the document from its last URI; `uri`: the contract's current URI first. */
export type TokenSource = 'uri' | 'metadata';

/** A request for the contract's URI wins. @throws TooManyWaitingError */
export async function requestToken(
  database: Database,
  chainId: ChainId,
  { address, tokenId, source }: TokenKey & { readonly source: TokenSource },
  requester: Requester,
): Promise<boolean> {
  return whereRoom(database, requester, async (transaction) => {
    const rows = await transaction.query(
      sql`INSERT INTO nft_token_metadata AS known (token_address, chain_id, token_id, status, due_at, requested_by, from_known_uri)
     VALUES (${addressBytes(address)}, ${chainId}, ${tokenId}::numeric, 'pending', now(), ${requester.id}, ${source === 'metadata'})
     ON CONFLICT (token_address, chain_id, token_id) DO UPDATE SET status = 'pending', due_at = excluded.due_at, requested_by = excluded.requested_by,
       attempts = 0, from_known_uri = excluded.from_known_uri
     WHERE NOT (known.status = 'pending' AND coalesce(known.due_at <= excluded.due_at, false))
       OR known.from_known_uri AND NOT excluded.from_known_uri
     RETURNING chain_id`,
    );
    if (rows.length > 0) transaction.notify(dueChannel(TOKEN_METADATA, chainId));
    return rows.length > 0;
  });
}

/** Traits come from documents. @returns how many @throws TooManyWaitingError */
export async function requestTokensOf(
  database: Database,
  chainId: ChainId,
  address: Address,
  requester: Requester,
): Promise<number> {
  return whereRoom(database, requester, async (transaction, room) => {
    const rows = await transaction.query(
      sql`WITH wanted AS MATERIALIZED (
       SELECT token_id FROM nft_token_metadata
       WHERE token_address = ${addressBytes(address)} AND chain_id = ${chainId} AND NOT coalesce(due_at <= now(), false)
       ORDER BY synced_at NULLS FIRST, token_id LIMIT ${room} FOR UPDATE SKIP LOCKED)
     UPDATE nft_token_metadata AS known SET due_at = now(), requested_by = ${requester.id}, attempts = 0 FROM wanted
     WHERE known.token_address = ${addressBytes(address)} AND known.chain_id = ${chainId} AND known.token_id = wanted.token_id
     RETURNING chain_id`,
    );
    transaction.notify(dueChannel(TOKEN_METADATA, chainId));
    return rows.length;
  });
}

/** One at a time per key: concurrent ones would all find the last free slot. */
function whereRoom<T>(
  database: Database,
  { id, limit }: Requester,
  request: (transaction: Transaction, room: number) => Promise<T>,
): Promise<T> {
  return database.transaction(async (transaction) => {
    await transactionLock(transaction, `metadata:${id}`);
    const [row] = await transaction.query<{ waiting: number }>(
      sql`SELECT ((SELECT count(*) FROM nft_collections WHERE requested_by = ${id})
         + (SELECT count(*) FROM nft_token_metadata WHERE requested_by = ${id}))::int AS waiting`,
    );
    const room = limit - (row?.waiting ?? 0);
    if (room <= 0) throw new TooManyWaitingError(limit);
    return request(transaction, room);
  });
}
