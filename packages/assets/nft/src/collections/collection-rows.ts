import type { Address, ChainId } from '@chainstead/core';
import {
  addressBytes,
  type Database,
  fromNow,
  hexText,
  joinSql,
  rawSql,
  type Sql,
  type SqlValue,
  sql,
} from '@chainstead/db';
import { NFT_TRANSFER_KINDS } from '@chainstead/events/token-events';
import { type Claim, type DueTable, isClaimed, SETTLED } from '@chainstead/jobs';
import { refreshTokens } from '@chainstead/tokens/pending-metadata';
import { COLLECTION_COLUMNS, type CollectionFields } from './collection-fields.ts';
import type { ContractReading, NftStandard, SeenEvents } from './read-contract.ts';

export const COLLECTION_METADATA = 'nft-collection';

export const DUE_COLLECTIONS: DueTable = {
  name: 'nft_collections',
  key: ['token_address', 'chain_id'],
  // Matches the index `nft_collections_due`.
  isOpen: sql`status NOT IN ('not-nft', 'not-contract')`,
  isUrgent: sql`requested_by IS NOT NULL`,
  onFailure: sql`status = CASE WHEN status = 'known' THEN 'known' ELSE 'failed' END, requested_by = NULL, updated_at = now()`,
};

export interface DueCollection {
  readonly address: Address;
  readonly isFirst: boolean;
  readonly requestedBy: string | null;
}

export const COLLECTION_COLUMNS_CLAIMED = sql`${hexText('work.token_address')} AS address, work.synced_at IS NULL AS is_first, work.requested_by`;

/** Seconds until a refusal expires. */
const REFUSAL_SECONDS = 600;
/** Seconds after expiry until a refusal without a request is deleted. */
const REFUSAL_KEPT_SECONDS = 86_400;
/** Characters. Longer ones are not stored. */
const STORED_URI_LENGTH_MAX = 65_536;
const ERROR_LENGTH_MAX = 1_000;

export async function readSeenEvents(
  database: Database,
  chainId: ChainId,
  address: Address,
): Promise<SeenEvents> {
  const contract = sql`${addressBytes(address)}`;
  const [row] = await database.query<{ readonly seenAs: number | null; readonly transfer: number | null }>(
    sql`SELECT (SELECT seen_as FROM tokens WHERE address = ${contract} AND chain_id = ${chainId}) AS seen_as,
       (SELECT kind FROM nft_transfers WHERE collection_key = address_key(${contract}) AND token_address = ${contract} AND chain_id = ${chainId} LIMIT 1) AS transfer`,
  );
  const [seenAs, transfer] = [row?.seenAs ?? 0, row?.transfer ?? null];
  const isBatchable =
    transfer === NFT_TRANSFER_KINDS.erc1155Single || transfer === NFT_TRANSFER_KINDS.erc1155Batch;
  return {
    erc721: (seenAs & 2) !== 0 || (transfer !== null && !isBatchable),
    erc1155: (seenAs & 4) !== 0 || isBatchable,
  };
}

export interface CollectionReading {
  readonly contract: ContractReading & { readonly standard: NftStandard };
  /** Null keeps the fields of an earlier document. */
  readonly document: CollectionFields | null;
  readonly failure: {
    readonly code: string;
    readonly message: string;
    readonly retrySeconds: number | null;
  } | null;
}

/** A readable contract is `known` even if its document isn't. Stays due if requested meanwhile. */
export async function saveCollection(
  database: Database,
  chainId: ChainId,
  address: Address,
  claim: Claim<unknown>,
  { contract, document, failure }: CollectionReading,
): Promise<void> {
  await saveToken(database, chainId, address, contract);
  const standard = contract.standard === 'erc721' ? 'ERC721' : 'ERC1155';
  const message = failure?.message.slice(0, ERROR_LENGTH_MAX) ?? null;
  const attempts = rawSql(failure === null ? '0' : 'attempts');
  await database.query(
    // Citus: no volatile expression in a CASE on a distributed row.
    sql`WITH later AS MATERIALIZED (SELECT ${fromNow(sql`${failure?.retrySeconds ?? null}::float8`)} AS moment)
     UPDATE nft_collections SET status = 'known', contract_type = ${standard}, contract_uri = ${storedUri(contract.contractUri)}, base_uri = ${storedUri(contract.baseUri)},
       error_code = ${failure?.code ?? null}, error_message = ${message},
       synced_at = now(), updated_at = now(), requested_by = NULL, ${joinSql(shownFields(contract, document))},
       attempts = ${attempts}, lease_until = NULL, holder = NULL, due_at = coalesce(due_at, later.moment)
     FROM later WHERE ${isClaimed(DUE_COLLECTIONS, claim)}`,
  );
}

function shownFields(
  { name, symbol }: Pick<ContractReading, 'name' | 'symbol'>,
  document: CollectionFields | null,
): readonly Sql[] {
  if (document === null) return [sql`name = coalesce(name, ${name})`, sql`symbol = coalesce(symbol, ${symbol})`];
  const own: Readonly<Record<string, SqlValue>> = { name, symbol };
  return COLLECTION_COLUMNS.map(
    ([field, column]) => sql`${rawSql(column)} = ${document[field] ?? own[column] ?? null}`,
  );
}

export async function refuseCollection(
  database: Database,
  claim: Claim<unknown>,
  status: 'not-contract' | 'not-nft',
): Promise<void> {
  await database.query(
    sql`UPDATE nft_collections SET status = ${status}, contract_type = NULL, ${SETTLED}, requested_by = NULL, updated_at = now(),
       due_at = now() + make_interval(secs => ${REFUSAL_SECONDS}) WHERE ${isClaimed(DUE_COLLECTIONS, claim)}`,
  );
}

export async function forgetRefusals(database: Database, chainId: ChainId): Promise<void> {
  await database.query(
    sql`DELETE FROM nft_collections WHERE chain_id = ${chainId} AND status IN ('not-contract', 'not-nft')
       AND due_at < now() - make_interval(secs => ${REFUSAL_KEPT_SECONDS})`,
  );
}

/** token-metadata-worker.ts reads tokens that the sync engine has seen. */
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

/** Null if it is too long to store; it is then read from the contract again. */
export function storedUri(uri: string | null): string | null {
  return uri === null || uri.length > STORED_URI_LENGTH_MAX ? null : uri.replaceAll('\0', '').toWellFormed();
}
