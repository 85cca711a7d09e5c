import type { Address, ChainId } from '@chainstead/core';
import { addressBytes, type Database, fromNow, hexText } from '@chainstead/db';
import { LEASE_SECONDS, OVERDUE, storedUri, withLater } from './collection-rows.ts';

/** `nft_token_metadata` as a queue, by the rules of collection-rows.ts. */
export interface DueToken {
  readonly lease: string;
  /** From 1. */
  readonly attempts: number;
  /** Where its document was the last time. */
  readonly tokenUri: string | null;
  /** Whether the document is read from there, without asking the contract. */
  readonly fromKnownUri: boolean;
}

export interface TokenKey {
  readonly address: Address;
  /** Decimal digits. */
  readonly tokenId: string;
}

const ERROR_LENGTH_MAX = 1_000;
const KEY = 'token_address = $1 AND chain_id = $2 AND token_id = $3::numeric';

/** Takes a token that is due; null where it is not (any more), or was taken. */
export async function takeDueToken(database: Database, chainId: ChainId, token: TokenKey): Promise<DueToken | null> {
  const [row] = await database.query<{
    lease: string;
    attempts: number;
    token_uri: string | null;
    from_known_uri: boolean;
  }>(
    `WITH taken AS (
       UPDATE nft_token_metadata SET due_at = now() + make_interval(secs => $4), attempts = attempts + 1
       WHERE ${KEY} AND due_at <= now() RETURNING due_at, attempts, token_uri, from_known_uri)
     SELECT due_at::text AS lease, attempts, token_uri, from_known_uri FROM taken`,
    [...keyOf(chainId, token), LEASE_SECONDS],
  );
  if (row === undefined) return null;
  const { lease, attempts, token_uri: tokenUri, from_known_uri: fromKnownUri } = row;
  return { lease, attempts, tokenUri, fromKnownUri };
}

/** Where a document is, or was. */
export interface FoundUri {
  readonly uri: string | null;
  /** Whether the contract has just said it. */
  readonly isAsked: boolean;
}

/** The document, and where it was; `text` null: the contract names none. */
export async function saveToken(
  database: Database,
  chainId: ChainId,
  token: TokenKey,
  lease: string,
  document: FoundUri & { readonly text: string | null },
): Promise<void> {
  await database.query(
    `${withLater('0')}
     UPDATE nft_token_metadata SET status = CASE WHEN $6::text IS NULL THEN 'none' ELSE 'known' END, token_uri = $5, metadata = $6,
       synced_at = now(), uri_synced_at = CASE WHEN $7::boolean THEN later.moment ELSE uri_synced_at END,
       attempts = 0, error_code = NULL, error_message = NULL, requested_by = NULL,
       from_known_uri = from_known_uri AND due_at <> $4::timestamptz,
       due_at = CASE WHEN due_at = $4::timestamptz THEN NULL ELSE due_at END FROM later WHERE ${KEY}`,
    [...keyOf(chainId, token), lease, storedUri(document.uri), document.text, document.isAsked],
  );
}

/** It could not be read; an earlier document stays. `retrySeconds` null: not by itself. */
export async function failToken(
  database: Database,
  chainId: ChainId,
  token: TokenKey,
  lease: string,
  failure: FoundUri & {
    readonly code: string;
    readonly message: string;
    readonly retrySeconds: number | null;
  },
): Promise<void> {
  await database.query(
    `WITH later AS MATERIALIZED (SELECT ${fromNow('0')} AS now, ${fromNow('$7::float8')} AS moment)
     UPDATE nft_token_metadata SET status = 'failed', error_code = $5, error_message = $6, requested_by = NULL,
       token_uri = coalesce($8, token_uri), uri_synced_at = CASE WHEN $9::boolean THEN later.now ELSE uri_synced_at END,
       from_known_uri = from_known_uri AND due_at <> $4::timestamptz,
       due_at = CASE WHEN due_at = $4::timestamptz THEN later.moment ELSE due_at END FROM later WHERE ${KEY}`,
    [
      ...keyOf(chainId, token),
      lease,
      failure.code,
      failure.message.slice(0, ERROR_LENGTH_MAX),
      failure.retrySeconds,
      storedUri(failure.uri),
      failure.isAsked,
    ],
  );
}

/** Gives a taking back: the process ends before it was read. */
export async function releaseToken(
  database: Database,
  chainId: ChainId,
  token: TokenKey,
  lease: string,
): Promise<void> {
  await database.query(
    `UPDATE nft_token_metadata SET due_at = now(), attempts = greatest(attempts - 1, 0) WHERE ${KEY} AND due_at = $4::timestamptz`,
    [...keyOf(chainId, token), lease],
  );
}

/** Tokens that are due and perhaps have no job, longest waiting first. */
export async function dueTokens(database: Database, chainId: ChainId, limit: number): Promise<TokenKey[]> {
  const rows = await database.query<{ address: Address; token_id: string }>(
    `SELECT ${hexText('token_address')} AS address, token_id::text FROM nft_token_metadata
     WHERE due_at <= ${OVERDUE} AND chain_id = $1 ORDER BY due_at LIMIT $2`,
    [chainId, limit],
  );
  return rows.map(({ address, token_id }) => ({ address, tokenId: token_id }));
}

function keyOf(chainId: ChainId, { address, tokenId }: TokenKey): unknown[] {
  return [addressBytes(address), chainId, tokenId];
}
