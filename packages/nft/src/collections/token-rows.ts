import type { Address } from '@chainstead/core';
import { type Database, fromNowOld, hexTextOld } from '@chainstead/db';
import { type Claim, claimValues, type DueTable, failureOf, isClaimed, settled } from '@chainstead/jobs';
import { storedUri } from './collection-rows.ts';

/** Keeps the source of a request that arrived meanwhile. */
const FROM_KNOWN_URI = 'from_known_uri = from_known_uri AND due_at IS NOT NULL';

/** `nft_token_metadata` as due work: documents to read. */
export const DUE_TOKENS: DueTable = {
  name: 'nft_token_metadata',
  key: ['token_address', 'chain_id', 'token_id'],
  isUrgent: 'requested_by IS NOT NULL',
  onFailure: `status = 'failed', requested_by = NULL, ${FROM_KNOWN_URI}`,
  isSpread: true,
};

/** The columns of a claimed token. */
export interface DueToken {
  readonly address: Address;
  /** Decimal digits. */
  readonly token_id: string;
  /** The last URI of its document. */
  readonly token_uri: string | null;
  /** Whether the document is read from there, without a call to the contract. */
  readonly from_known_uri: boolean;
}

export const TOKEN_COLUMNS_CLAIMED = `${hexTextOld('work.token_address')} AS address, work.token_id::text, work.token_uri, work.from_known_uri`;

export interface TokenKey {
  readonly address: Address;
  /** Decimal digits. */
  readonly tokenId: string;
}

/** The current or last URI of a document. */
export interface FoundUri {
  readonly uri: string | null;
  /** Whether the contract has just returned it. */
  readonly isRequested: boolean;
}

/** Stores a document and its URI; `text` null: the contract has none. */
export async function saveToken(
  database: Database,
  claim: Claim<unknown>,
  document: FoundUri & { readonly text: string | null },
): Promise<void> {
  await database.query(
    `${WITH_NOW}
     UPDATE nft_token_metadata SET status = CASE WHEN $6::text IS NULL THEN 'none' ELSE 'known' END, token_uri = $5, metadata = $6,
       synced_at = now(), uri_synced_at = CASE WHEN $7::boolean THEN later.now ELSE uri_synced_at END,
       ${settled()}, requested_by = NULL, ${FROM_KNOWN_URI} FROM later WHERE ${isClaimed(DUE_TOKENS, 1)}`,
    [...claimValues(claim), storedUri(document.uri), document.text, document.isRequested],
  );
}

/** Stores a failed read; an earlier document stays. `retrySeconds` null: no retry is scheduled. */
export async function failToken(
  database: Database,
  claim: Claim<unknown>,
  failure: FoundUri & { readonly error: unknown; readonly retrySeconds: number | null },
): Promise<void> {
  const { code, message } = failureOf(failure.error);
  await database.query(
    `WITH later AS MATERIALIZED (SELECT ${fromNowOld('0')} AS now, ${fromNowOld('$7::float8')} AS moment)
     UPDATE nft_token_metadata SET error_code = $5, error_message = $6, lease_until = NULL, holder = NULL, ${DUE_TOKENS.onFailure},
       token_uri = coalesce($8, token_uri), uri_synced_at = CASE WHEN $9::boolean THEN later.now ELSE uri_synced_at END,
       due_at = coalesce(due_at, later.moment) FROM later WHERE ${isClaimed(DUE_TOKENS, 1)}`,
    [...claimValues(claim), code, message, failure.retrySeconds, storedUri(failure.uri), failure.isRequested],
  );
}

/** Citus allows no volatile expression in a CASE on a distributed row, as each node would evaluate its own. */
const WITH_NOW = `WITH later AS MATERIALIZED (SELECT ${fromNowOld('0')} AS now)`;
