import type { Address, ChainId } from '@chainstead/core';
import { addressBytes, type Database, fromNow, hexText } from '@chainstead/db';
import { NFT_TRANSFER_KINDS } from '@chainstead/token-events';
import { refreshTokens } from '@chainstead/tokens';
import { COLLECTION_COLUMNS, type CollectionFields } from './collection-fields.ts';
import type { NftStandard } from './probe-behaviour.ts';
import type { ContractReading, SeenEvents } from './read-contract.ts';

/**
 * `nft_collections` as a queue: a row whose `due_at` has passed is to be read. Whoever reads it moves `due_at` on by a lease,
 * so that what a killed worker leaves behind is due again by itself; what comes out is stored only while the lease still
 * stands, so that a request or an event in between is not lost.
 */
export interface DueCollection {
  /** Identifies this taking. */
  readonly lease: string;
  /** From 1. */
  readonly attempts: number;
  readonly seen: SeenEvents;
  /** Whether it was never read before. */
  readonly isFirst: boolean;
  /** Whose request it is; null for what is due by itself. */
  readonly requestedBy: string | null;
}

/** Longer than reading one collection or token takes (read-document.ts and the nodes' time). Seconds. */
export const LEASE_SECONDS = 60;
/** How long "not an NFT" is believed. Seconds. */
const REFUSAL_SECONDS = 600;
/** What nobody asked for again since its refusal ended is forgotten. Seconds. */
const REFUSAL_KEPT_SECONDS = 86_400;
/** URIs that hold their document are kept up to here, longer ones not at all. Characters. */
const STORED_URI_LENGTH_MAX = 65_536;
const ERROR_LENGTH_MAX = 1_000;

const KEY = 'token_address = $1 AND chain_id = $2';
/** As in the index `nft_collections_due`. */
const IS_READABLE = `status NOT IN ('not-nft', 'not-contract')`;

/** Takes a collection that is due; null where it is not (any more), or was taken. */
export async function takeDueCollection(
  database: Database,
  chainId: ChainId,
  address: Address,
): Promise<DueCollection | null> {
  const [row] = await database.query<
    { lease: string; attempts: number; unread: boolean; requested_by: string | null } & SeenColumns
  >(
    `WITH taken AS (
       UPDATE nft_collections SET due_at = now() + make_interval(secs => $3), attempts = attempts + 1
       WHERE ${KEY} AND due_at <= now() AND ${IS_READABLE}
       RETURNING due_at, attempts, synced_at IS NULL AS unread, requested_by)
     SELECT due_at::text AS lease, attempts, unread, requested_by,
       (SELECT seen_as FROM tokens WHERE address = $1 AND tokens.chain_id = $2) AS seen_as,
       (SELECT kind FROM nft_transfers WHERE collection_key = address_key($1) AND ${KEY} LIMIT 1) AS transfer FROM taken`,
    [addressBytes(address), chainId, LEASE_SECONDS],
  );
  if (row === undefined) return null;
  return {
    lease: row.lease,
    attempts: row.attempts,
    seen: seenEvents(row),
    isFirst: row.unread,
    requestedBy: row.requested_by,
  };
}

interface SeenColumns {
  /** `tokens.seen_as`. */
  readonly seen_as: number | null;
  /** Kind of any of its transfers; null without one. */
  readonly transfer: number | null;
}

function seenEvents({ seen_as, transfer }: SeenColumns): SeenEvents {
  const isBatchable = transfer === NFT_TRANSFER_KINDS.erc1155Single || transfer === NFT_TRANSFER_KINDS.erc1155Batch;
  return {
    erc721: ((seen_as ?? 0) & 2) !== 0 || (transfer !== null && !isBatchable),
    erc1155: ((seen_as ?? 0) & 4) !== 0 || isBatchable,
  };
}

/** What was read. */
export interface CollectionReading {
  readonly contract: ContractReading & { readonly standard: NftStandard };
  /** Null: keep what an earlier document said. */
  readonly document: CollectionFields | null;
  /** What kept the document from being read; null when nothing did. */
  readonly failure: { readonly code: string; readonly message: string; readonly retrySeconds: number | null } | null;
}

/**
 * Stores a reading, also as facts of the token; a contract that can be read is known even where its document can't.
 * What something has asked for again in the meantime stays due.
 */
export async function saveCollection(
  database: Database,
  chainId: ChainId,
  address: Address,
  lease: string,
  { contract, document, failure }: CollectionReading,
): Promise<void> {
  await saveToken(database, chainId, address, contract);
  const shown =
    document === null ? [] : COLLECTION_COLUMNS.map(([field, column]) => ({ column, value: document[field] }));
  const values = [
    addressBytes(address),
    chainId,
    lease,
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
  // The first time the contract's own words do, until there is a document.
  if (document === null) assignments.push('name = coalesce(name, $10)', 'symbol = coalesce(symbol, $11)');
  await database.query(
    `${withLater('$9::float8')}
     UPDATE nft_collections SET status = 'known', contract_type = $4, contract_uri = $5, base_uri = $6, error_code = $7, error_message = $8,
       synced_at = now(), updated_at = now(), requested_by = NULL, ${assignments.join(', ')},
       attempts = CASE WHEN $7::text IS NULL THEN 0 ELSE attempts END,
       due_at = CASE WHEN due_at = $3::timestamptz THEN later.moment ELSE due_at END
     FROM later WHERE ${KEY}`,
    values,
  );
}

/**
 * For an UPDATE's `WITH`: the moment that many seconds from now, as `later.moment`. Of a row that may be distributed nothing that changes with time may
 * stand in a CASE, as each node would have its own.
 */
export function withLater(seconds: string): string {
  return `WITH later AS MATERIALIZED (SELECT ${fromNow(seconds)} AS moment)`;
}

/** Neither a contract nor an NFT: believed for a while, then asked again on request. */
export async function refuseCollection(
  database: Database,
  chainId: ChainId,
  address: Address,
  status: 'not-contract' | 'not-nft',
): Promise<void> {
  await database.query(
    `UPDATE nft_collections SET status = $3, contract_type = NULL, error_code = NULL, error_message = NULL, attempts = 0,
       requested_by = NULL, updated_at = now(), due_at = now() + make_interval(secs => $4) WHERE ${KEY}`,
    [addressBytes(address), chainId, status, REFUSAL_SECONDS],
  );
}

/** It could not be read; what was known stays. */
export async function failCollection(
  database: Database,
  chainId: ChainId,
  address: Address,
  lease: string,
  failure: { readonly code: string; readonly message: string; readonly retrySeconds: number },
): Promise<void> {
  await database.query(
    `${withLater('$6::float8')}
     UPDATE nft_collections SET status = CASE WHEN status = 'known' THEN 'known' ELSE 'failed' END, error_code = $4, error_message = $5,
       requested_by = NULL, updated_at = now(),
       due_at = CASE WHEN due_at = $3::timestamptz THEN later.moment ELSE due_at END FROM later WHERE ${KEY}`,
    [
      addressBytes(address),
      chainId,
      lease,
      failure.code,
      failure.message.slice(0, ERROR_LENGTH_MAX),
      failure.retrySeconds,
    ],
  );
}

/** Gives a taking back: the process ends before it was read. */
export async function releaseCollection(
  database: Database,
  chainId: ChainId,
  address: Address,
  lease: string,
): Promise<void> {
  await database.query(
    `UPDATE nft_collections SET due_at = now(), attempts = greatest(attempts - 1, 0) WHERE ${KEY} AND due_at = $3::timestamptz`,
    [addressBytes(address), chainId, lease],
  );
}

/** A request adds its job by itself right after its row; only what is due for longer has none. */
export const OVERDUE = `now() - interval '1 second'`;

/** Addresses of collections that are due and perhaps have no job, longest waiting first. */
export async function dueCollections(database: Database, chainId: ChainId, limit: number): Promise<Address[]> {
  const rows = await database.query<{ address: Address }>(
    `SELECT ${hexText('token_address')} AS address FROM nft_collections
     WHERE due_at <= ${OVERDUE} AND chain_id = $1 AND ${IS_READABLE} ORDER BY due_at LIMIT $2`,
    [chainId, limit],
  );
  return rows.map(({ address }) => address);
}

/** Forgets refusals that nobody asks about. */
export async function forgetRefusals(database: Database, chainId: ChainId): Promise<void> {
  await database.query(
    `DELETE FROM nft_collections WHERE chain_id = $1 AND status IN ('not-contract', 'not-nft')
       AND due_at < now() - make_interval(secs => $2)`,
    [chainId, REFUSAL_KEPT_SECONDS],
  );
}

/**
 * The contract's own words for whatever lists tokens, with the spam rule applied. A token that the sync engine has seen has its own
 * reader (token-metadata-worker.ts), which also tells hybrids of ERC-20 apart.
 */
async function saveToken(
  database: Database,
  chainId: ChainId,
  address: Address,
  { standard, name, symbol }: CollectionReading['contract'],
): Promise<void> {
  await database.transaction(async (transaction) => {
    const inserted = await transaction.query(
      `INSERT INTO tokens (address, chain_id, standard, name, symbol, facts_status) VALUES ($1, $2, $3, $4, $5, 'known')
       ON CONFLICT (address, chain_id) DO NOTHING RETURNING chain_id`,
      [addressBytes(address), chainId, standard, name, symbol],
    );
    if (inserted.length > 0)
      await refreshTokens(transaction, 'SELECT $1::bytea, $2::bigint', [addressBytes(address), chainId]);
  });
}

/** Fit for a text column; one that is too long to keep is read again from the contract anyway. */
export function storedUri(uri: string | null): string | null {
  return uri === null || uri.length > STORED_URI_LENGTH_MAX ? null : uri.replaceAll('\0', '').toWellFormed();
}
