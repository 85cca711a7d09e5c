import type { Address } from '@chainstead/core';
import { type Database, hexText, rawSql, type Sql, sql } from '@chainstead/db';
import { type Claim, type DueTable, failDue, isClaimed, SETTLED } from '@chainstead/jobs';
import { storedUri } from './collection-rows.ts';

/** Keeps the source of a request that arrived meanwhile. */
const FROM_KNOWN_URI = sql`from_known_uri = from_known_uri AND due_at IS NOT NULL`;

export const TOKEN_METADATA = 'nft-token';

export const DUE_TOKENS: DueTable = {
  name: 'nft_token_metadata',
  key: ['token_address', 'chain_id', 'token_id'],
  isUrgent: sql`requested_by IS NOT NULL`,
  onFailure: sql`status = 'failed', requested_by = NULL, ${FROM_KNOWN_URI}`,
  isSpread: true,
};

export interface DueToken {
  readonly address: Address;
  readonly tokenId: string;
  readonly tokenUri: string | null;
  readonly fromKnownUri: boolean;
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
  { uri, isRequested, text }: FoundUri & { readonly text: string | null },
): Promise<void> {
  const status = text === null ? 'none' : 'known';
  await database.query(
    sql`UPDATE nft_token_metadata SET status = ${status}, token_uri = ${storedUri(uri)}, metadata = ${text}, synced_at = now(),
       ${SETTLED}, requested_by = NULL, ${FROM_KNOWN_URI}${uriSynced(isRequested)} WHERE ${isClaimed(DUE_TOKENS, claim)}`,
  );
}

/** An earlier document stays. `retrySeconds` null: no retry is scheduled. */
export async function failToken(
  database: Database,
  claim: Claim<unknown>,
  { uri, isRequested, ...failure }: FoundUri & { readonly error: unknown; readonly retrySeconds: number | null },
): Promise<void> {
  const assignments = sql`token_uri = coalesce(${storedUri(uri)}, token_uri)${uriSynced(isRequested)}`;
  await failDue(database, DUE_TOKENS, claim, { ...failure, assignments });
}

function uriSynced(isRequested: boolean): Sql {
  return isRequested ? sql`, uri_synced_at = now()` : rawSql('');
}
