import type { Chain } from '@chainstead/chains';
import { type Address, type ChainId, type Clock, errorText, type Logger, waitLeft } from '@chainstead/core';
import { addressBytes, type Database, type Sql, sql, type Transaction, transactionLock } from '@chainstead/db';
import {
  type ApiDependencies,
  defineApiError,
  NotFoundError,
  type OnDemandBounds,
  routesFor,
} from '@chainstead/http';
import { createSettledWatch, dueChannel } from '@chainstead/jobs';
import { COLLECTION_METADATA } from './collection-rows.ts';
import { type Collection, getCollection } from './get-collection.ts';
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

export interface MetadataRequestsOptions {
  readonly onDemand: Pick<OnDemandBounds, 'perKey'>;
  readonly clock: Clock;
  /** Errors are logged; no request waits for it. */
  onCollection?(
    context: { readonly database: Database; readonly logger: Logger },
    chain: Chain,
    address: Address,
    requestedBy: string,
  ): Promise<unknown>;
}

export interface MetadataRequests {
  /** Resolves when the row is not pending any more, or after the request's wait. */
  settled(row: AwaitedRow): Promise<unknown>;
  /** @param id of the key */
  requesterOf(id: string): Requester;
  announce(chain: Chain, address: Address, requester: Requester): void;
  collection(chain: Chain, address: Address, requester: Requester): Promise<boolean>;
  collectionAgain(chain: Chain, address: Address, requester: Requester): Promise<boolean>;
  token(chain: Chain, token: TokenKey, source: TokenSource, requester: Requester): Promise<boolean>;
}

/** What routes of metadata share. */
export interface MetadataServices {
  readonly requests: MetadataRequests;
}

export const { defineRoute } = routesFor<MetadataServices>();

export function createMetadataRequests(
  { onDemand, clock, onCollection }: MetadataRequestsOptions,
  { database, logger }: Pick<ApiDependencies, 'database' | 'logger'>,
): MetadataRequests {
  const settled = createSettledWatch<AwaitedRow, true>({
    clock,
    logger,
    read: (rows) => settledRows(database, rows),
  });
  return {
    settled: (row) => settled(row, waitLeft()),
    requesterOf: (id) => ({ id, limit: onDemand.perKey }),
    announce(chain, address, requester) {
      const facts = { chain: chain.key, token: address };
      onCollection?.({ database, logger }, chain, address, requester.id).catch((error: unknown) => {
        const message = 'What follows a request for a collection could not be started';
        logger.warn({ ...facts, error: errorText(error) }, message);
      });
    },
    collection: (chain, address, requester) =>
      requestCollection(database, chain.id, { address, again: false }, requester),
    collectionAgain: (chain, address, requester) =>
      requestCollection(database, chain.id, { address, again: true }, requester),
    token: (chain, token, source, requester) => requestToken(database, chain.id, { ...token, source }, requester),
  };
}

interface AwaitedRow {
  readonly chainId: ChainId;
  readonly address: Address;
  /** Null: the collection itself. */
  readonly tokenId: string | null;
}

/** Those that are no longer pending. */
async function settledRows(
  database: Pick<Database, 'query'>,
  awaited: readonly AwaitedRow[],
): Promise<ReadonlyMap<AwaitedRow, true>> {
  const [collections, tokens] = [awaited.filter(isCollection), awaited.filter((row) => !isCollection(row))];
  const keys = (rows: readonly AwaitedRow[]): Sql =>
    sql`${rows.map(({ address }) => addressBytes(address))}::bytea[], ${rows.map(({ chainId }) => chainId)}::bigint[]`;
  const read = async (rows: readonly AwaitedRow[], statement: Sql) =>
    rows.length === 0 ? [] : database.query<{ key: string }>(statement);
  const settled = await Promise.all([
    read(
      collections,
      sql`SELECT chain_id || ':0x' || encode(token_address, 'hex') || ':' AS key FROM nft_collections
       WHERE (token_address, chain_id) IN (SELECT * FROM unnest(${keys(collections)})) AND status <> 'pending'`,
    ),
    read(
      tokens,
      sql`SELECT chain_id || ':0x' || encode(token_address, 'hex') || ':' || token_id AS key FROM nft_token_metadata
       WHERE (token_address, chain_id, token_id) IN (SELECT * FROM unnest(${keys(tokens)}, ${tokens.map(({ tokenId }) => tokenId)}::numeric[]))
         AND status <> 'pending'`,
    ),
  ]);
  const found = new Set(settled.flat().map(({ key }) => key));
  const isSettled = (row: AwaitedRow): boolean => found.has(`${row.chainId}:${row.address}:${row.tokenId ?? ''}`);
  return new Map(awaited.filter(isSettled).map((row) => [row, true] as const));
}

const isCollection = ({ tokenId }: AwaitedRow): boolean => tokenId === null;

type RequestedOf = { readonly chain: Chain; readonly requester: Requester };

/** Waits briefly. @throws TooManyWaitingError */
export async function enqueueCollections(
  { database, requests }: { readonly database: Database; readonly requests: MetadataRequests },
  { chain, requester }: RequestedOf,
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, Collection>> {
  const collections = new Map<Address, Collection>();
  for (const address of addresses) collections.set(address, await getCollection(database, chain.id, address));
  const unread = [...collections].filter(([, { status, isNft, isRefusalOver }]) =>
    status === 'not-nft' || status === 'not-contract'
      ? isRefusalOver || isNft
      : status === null || status === 'pending',
  );
  for (const [address, { status }] of unread)
    if (status !== 'pending') await requests.collection(chain, address, requester);
  const awaited = unread.map(([address]) => ({ chainId: chain.id, address, tokenId: null }));
  await Promise.all(awaited.map((row) => requests.settled(row)));
  for (const [address] of unread) collections.set(address, await getCollection(database, chain.id, address));
  for (const [address, { isNft }] of collections) if (isNft) requests.announce(chain, address, requester);
  return collections;
}

/** @throws NotFoundError if it is no NFT or unread; TooManyWaitingError */
export async function enqueueCollection(
  context: Parameters<typeof enqueueCollections>[0],
  requested: RequestedOf,
  address: Address,
): Promise<Collection> {
  const collection = (await enqueueCollections(context, requested, [address])).get(address);
  if (collection?.isNft !== true) throw notFound(requested.chain, address, collection?.status ?? null);
  return collection;
}

function notFound(chain: Chain, address: Address, status: Collection['status']): NotFoundError {
  const on = `on ${chain.key}`;
  switch (status) {
    case 'not-contract':
      return new NotFoundError(`${address} is not a contract ${on}`, { status });
    case 'not-nft':
      return new NotFoundError(`${address} is not an NFT contract ${on}`, { status });
    case 'failed':
      return new NotFoundError(`${address} could not be read ${on} yet: Chainstead retries automatically`, {
        status,
      });
    default: {
      const message = `${address} is not indexed ${on} yet: indexing has started, retry in a moment`;
      return new NotFoundError(message, { status: 'indexing' });
    }
  }
}
