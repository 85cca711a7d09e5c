import type { Address, ChainId } from '@chainstead/core';
import { addressBytes, type Database, fromNowOld, hexTextOld, sql } from '@chainstead/db';
import { type Claim, claimValues, type DueTable, isClaimed, settled } from '@chainstead/jobs';
import { NFT_TRANSFER_KINDS } from '@chainstead/token-events';
import { refreshTokens } from '@chainstead/tokens';
import { COLLECTION_COLUMNS, type CollectionFields } from './collection-fields.ts';
import type { NftStandard } from './probe-behaviour.ts';
import type { ContractReading, SeenEvents } from './read-contract.ts';

/** `nft_collections` as due work: contracts to read. */
export const DUE_COLLECTIONS: DueTable = {
  name: 'nft_collections',
  key: ['token_address', 'chain_id'],
  // Matches the index `nft_collections_due`.
  isOpen: `status NOT IN ('not-nft', 'not-contract')`,
  isUrgent: 'requested_by IS NOT NULL',
  // Earlier metadata stays.
  onFailure: `status = CASE WHEN status = 'known' THEN 'known' ELSE 'failed' END, requested_by = NULL, updated_at = now()`,
};

/** The columns of a claimed collection. */
export interface DueCollection {
  readonly address: Address;
  /** Whether it was never read before. */
  readonly is_first: boolean;
  /** The key that requested it; null if no request is waiting for it. */
  readonly requested_by: string | null;
}

export const COLLECTION_COLUMNS_CLAIMED = `${hexTextOld('work.token_address')} AS address, work.synced_at IS NULL AS is_first, work.requested_by`;

/** How long the result "not an NFT" is trusted. Seconds. */
const REFUSAL_SECONDS = 600;
/** A refusal is deleted if there is no request within this time after it expires. Seconds. */
const REFUSAL_KEPT_SECONDS = 86_400;
/** Longest stored URI that contains its document, in characters. Longer ones are not stored. */
const STORED_URI_LENGTH_MAX = 65_536;
const ERROR_LENGTH_MAX = 1_000;

/** Returns the standards that a contract's events show. */
export async function readSeenEvents(database: Database, chainId: ChainId, address: Address): Promise<SeenEvents> {
  const [row] = await database.query<SeenColumns>(
    sql`SELECT (SELECT seen_as FROM tokens WHERE address = ${addressBytes(address)} AND chain_id = ${chainId}) AS seen_as,
       (SELECT kind FROM nft_transfers WHERE collection_key = address_key(${addressBytes(address)}) AND token_address = ${addressBytes(address)} AND chain_id = ${chainId} LIMIT 1) AS transfer`,
  );
  return seenEvents(row ?? { seen_as: null, transfer: null });
}

interface SeenColumns {
  /** `tokens.seen_as`. */
  readonly seen_as: number | null;
  /** Kind of any of its transfers; null if it has none. */
  readonly transfer: number | null;
}

function seenEvents({ seen_as, transfer }: SeenColumns): SeenEvents {
  const isBatchable = transfer === NFT_TRANSFER_KINDS.erc1155Single || transfer === NFT_TRANSFER_KINDS.erc1155Batch;
  return {
    erc721: ((seen_as ?? 0) & 2) !== 0 || (transfer !== null && !isBatchable),
    erc1155: ((seen_as ?? 0) & 4) !== 0 || isBatchable,
  };
}

export interface CollectionReading {
  readonly contract: ContractReading & { readonly standard: NftStandard };
  /** Null keeps the fields of an earlier document. */
  readonly document: CollectionFields | null;
  /** Why the document could not be read; null if it was read. */
  readonly failure: { readonly code: string; readonly message: string; readonly retrySeconds: number | null } | null;
}

/**
 * Stores a reading, also as facts of the token. A readable contract is `known` even if its document can't be read. A
 * row that was requested again in the meantime stays due.
 */
export async function saveCollection(
  database: Database,
  chainId: ChainId,
  address: Address,
  claim: Claim<unknown>,
  { contract, document, failure }: CollectionReading,
): Promise<void> {
  await saveToken(database, chainId, address, contract);
  const shown =
    document === null ? [] : COLLECTION_COLUMNS.map(([field, column]) => ({ column, value: document[field] }));
  const values: unknown[] = [
    ...claimValues(claim),
    contract.standard === 'erc721' ? 'ERC721' : 'ERC1155',
    storedUri(contract.contractUri),
    storedUri(contract.baseUri),
    failure?.code ?? null,
    failure?.message.slice(0, ERROR_LENGTH_MAX) ?? null,
    failure?.retrySeconds ?? null,
    contract.name,
    contract.symbol,
  ];
  const assignments = shown.map(({ column, value }) => {
    const own = column === 'name' ? '$10' : column === 'symbol' ? '$11' : null;
    values.push(value);
    return `${column} = ${own === null ? `$${values.length}` : `coalesce($${values.length}, ${own})`}`;
  });
  // The contract's own name and symbol apply until there is a document.
  if (document === null) assignments.push('name = coalesce(name, $10)', 'symbol = coalesce(symbol, $11)');
  await database.query(
    `${withLater('$9::float8')}
     UPDATE nft_collections SET status = 'known', contract_type = $4, contract_uri = $5, base_uri = $6, error_code = $7, error_message = $8,
       synced_at = now(), updated_at = now(), requested_by = NULL, ${assignments.join(', ')},
       attempts = CASE WHEN $7::text IS NULL THEN 0 ELSE attempts END, lease_until = NULL, holder = NULL,
       due_at = coalesce(due_at, later.moment)
     FROM later WHERE ${isClaimed(DUE_COLLECTIONS, 1)}`,
    values,
  );
}

/**
 * For an UPDATE's `WITH`: the time that many seconds from now, as `later.moment`. Citus allows no volatile expression
 * in a CASE on a distributed row, as each node would evaluate its own.
 */
function withLater(seconds: string): string {
  return `WITH later AS MATERIALIZED (SELECT ${fromNowOld(seconds)} AS moment)`;
}

/** Stores that an address is not a contract or not an NFT. After the refusal expires, a request reads it again. */
export async function refuseCollection(
  database: Database,
  claim: Claim<unknown>,
  status: 'not-contract' | 'not-nft',
): Promise<void> {
  await database.query(
    `UPDATE nft_collections SET status = $4, contract_type = NULL, ${settled()}, requested_by = NULL, updated_at = now(),
       due_at = now() + make_interval(secs => $5) WHERE ${isClaimed(DUE_COLLECTIONS, 1)}`,
    [...claimValues(claim), status, REFUSAL_SECONDS],
  );
}

/** Deletes expired refusals without recent requests. */
export async function forgetRefusals(database: Database, chainId: ChainId): Promise<void> {
  await database.query(
    sql`DELETE FROM nft_collections WHERE chain_id = ${chainId} AND status IN ('not-contract', 'not-nft')
       AND due_at < now() - make_interval(secs => ${REFUSAL_KEPT_SECONDS})`,
  );
}

/**
 * Stores the contract's own name and symbol for token lists, with the spam rule applied. Tokens that the sync engine
 * has seen are read by token-metadata-worker.ts, which also recognizes hybrids of ERC-20.
 */
async function saveToken(
  database: Database,
  chainId: ChainId,
  address: Address,
  { standard, name, symbol }: CollectionReading['contract'],
): Promise<void> {
  await database.transaction(async (transaction) => {
    const inserted = await transaction.query(
      sql`INSERT INTO tokens (address, chain_id, standard, name, symbol, facts_status, facts_due_at) VALUES (${addressBytes(address)}, ${chainId}, ${standard}, ${name}, ${symbol}, 'known', NULL)
       ON CONFLICT (address, chain_id) DO NOTHING RETURNING chain_id`,
    );
    if (inserted.length > 0)
      await refreshTokens(transaction, sql`SELECT ${addressBytes(address)}::bytea, ${chainId}::bigint`);
  });
}

/** Returns a URI that fits a text column. Null if it is too long to store; it is then read from the contract again. */
export function storedUri(uri: string | null): string | null {
  return uri === null || uri.length > STORED_URI_LENGTH_MAX ? null : uri.replaceAll('\0', '').toWellFormed();
}
