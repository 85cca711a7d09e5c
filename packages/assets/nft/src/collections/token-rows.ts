import type { Address } from '@chainstead/core';
import { type Database, fromNow, hexText, rawSql, sql } from '@chainstead/db';
import { type Claim, type DueTable, failureOf, isClaimed, SETTLED } from '@chainstead/jobs';
import { storedUri } from './collection-rows.ts';

/** Keeps the source of a request that arrived meanwhile. */
const FROM_KNOWN_URI = sql`from_known_uri = from_known_uri AND due_at IS NOT NULL`;
const ON_FAILURE = sql`status = 'failed', requested_by = NULL, ${FROM_KNOWN_URI}`;

export const DUE_TOKENS: DueTable = {
  name: 'nft_token_metadata',
  key: ['token_address', 'chain_id', 'token_id'],
  isUrgent: sql`requested_by IS NOT NULL`,
  onFailure: ON_FAILURE,
  isSpread: true,
};

export interface DueToken {
  readonly address: Address;
  readonly token_id: string;
  readonly token_uri: string | null;
  readonly from_known_uri: boolean;
}

export const TOKEN_COLUMNS_CLAIMED = sql`${hexText('work.token_address')} AS address, work.token_id::text, work.token_uri, work.from_known_uri`;

export interface TokenKey {
  readonly address: Address;
  /** Decimal digits. */
  readonly tokenId: string;
}

export interface FoundUri {
  readonly uri: string | null;
  readonly isRequested: boolean;
}

/** `text` null: the contract has no document. */
export async function saveToken(
  database: Database,
  claim: Claim<unknown>,
  document: FoundUri & { readonly text: string | null },
): Promise<void> {
  await database.query(
    sql`WITH later AS MATERIALIZED (SELECT ${NOW} AS now)
     UPDATE nft_token_metadata SET status = ${document.text === null ? 'none' : 'known'}, token_uri = ${storedUri(document.uri)}, metadata = ${document.text},
       synced_at = now(), uri_synced_at = CASE WHEN ${document.isRequested}::boolean THEN later.now ELSE uri_synced_at END,
       ${SETTLED}, requested_by = NULL, ${FROM_KNOWN_URI} FROM later WHERE ${isClaimed(DUE_TOKENS, claim)}`,
  );
}

/** An earlier document stays. `retrySeconds` null: no retry is scheduled. */
export async function failToken(
  database: Database,
  claim: Claim<unknown>,
  failure: FoundUri & { readonly error: unknown; readonly retrySeconds: number | null },
): Promise<void> {
  const { code, message } = failureOf(failure.error);
  await database.query(
    sql`WITH later AS MATERIALIZED (SELECT ${NOW} AS now, ${fromNow(sql`${failure.retrySeconds}::float8`)} AS moment)
     UPDATE nft_token_metadata SET error_code = ${code}, error_message = ${message}, lease_until = NULL, holder = NULL, ${ON_FAILURE},
       token_uri = coalesce(${storedUri(failure.uri)}, token_uri), uri_synced_at = CASE WHEN ${failure.isRequested}::boolean THEN later.now ELSE uri_synced_at END,
       due_at = coalesce(due_at, later.moment) FROM later WHERE ${isClaimed(DUE_TOKENS, claim)}`,
  );
}

/** Citus: no volatile expression in a CASE on a distributed row. */
const NOW = fromNow(rawSql(0));
