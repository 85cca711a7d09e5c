import { type Address, type ChainId, parseAddress } from '@chainstead/core';
import { addressBytes, type Database, hexText, rawSql, rowsAfter, type Sql, sql, where } from '@chainstead/db';

/** `refused`: not an NFT collection; `failed`: retried when it is due. */
export type CollectionReadState = 'queued' | 'complete' | 'refused' | 'failed';

interface CollectionRead {
  readonly chainId: ChainId;
  readonly address: Address;
  readonly name: string | null;
  readonly state: CollectionReadState;
  readonly readAt: Date | null;
  readonly dueAt: Date | null;
  readonly attempts: number;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface CollectionReadsRequested {
  readonly chainId: ChainId | null;
  readonly state: CollectionReadState | null;
  readonly after: Pick<CollectionRead, 'chainId' | 'address'> | null;
  readonly limit: number;
}

export interface CollectionReadsPage {
  readonly collections: readonly CollectionRead[];
  /** Null on the last page. A page may be short or empty although others follow. */
  readonly next: Pick<CollectionRead, 'chainId' | 'address'> | null;
}

const STATUSES: Readonly<Record<CollectionReadState, readonly string[]>> = {
  queued: ['pending'],
  complete: ['known'],
  refused: ['not-nft', 'not-contract'],
  failed: ['failed'],
};
const STATE_OF = new Map(
  Object.entries(STATUSES).flatMap(([state, statuses]) =>
    statuses.map((status) => [status, state as CollectionReadState] as const),
  ),
);
const REFUSALS: Readonly<Record<string, string>> = {
  'not-nft': 'The contract is no NFT collection',
  'not-contract': 'There is no contract at this address',
};

const LOOKED_AT = 20_000;

const KEY = ['token_address', 'chain_id'];
const COLUMNS = sql`chain_id, ${hexText('token_address')} AS address, name, status, synced_at AS "readAt",
  due_at, attempts, error_code, error_message`;

type ReadColumns = Omit<CollectionRead, 'address' | 'state' | 'error'> & {
  readonly address: string;
  readonly status: string;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
};

export async function listCollectionReads(
  database: Pick<Database, 'query'>,
  { chainId, state, after, limit }: CollectionReadsRequested,
): Promise<CollectionReadsPage> {
  const behind =
    after === null
      ? []
      : [rowsAfter('ASC', KEY, [sql`${addressBytes(after.address)}`, sql`${after.chainId}::bigint`])];
  const from = sql`FROM nft_collections ${where(behind)} ORDER BY token_address, chain_id`;
  const filters = [
    ...(chainId === null ? [] : [sql`chain_id = ${chainId}`]),
    ...(state === null ? [] : [sql`status = ANY (${STATUSES[state]})`]),
  ];
  const rows = await database.query<ReadColumns>(
    sql`SELECT ${COLUMNS} FROM (SELECT * ${from} LIMIT ${rawSql(LOOKED_AT)}) AS looked_at
      ${where(filters)} ORDER BY token_address, chain_id LIMIT ${limit + 1}`,
  );
  const collections = rows.slice(0, limit).map(toRead);
  if (rows.length > limit) return { collections, next: collections.at(-1) ?? null };
  const [last] = await database.query<ReadColumns>(
    sql`SELECT ${COLUMNS} FROM (SELECT * ${from} OFFSET ${rawSql(LOOKED_AT - 1)} LIMIT 1) AS looked_at`,
  );
  return { collections, next: last === undefined ? null : toRead(last) };
}

function toRead({ address, status, errorCode, errorMessage, ...read }: ReadColumns): CollectionRead {
  const refusal = REFUSALS[status];
  const error = errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' };
  return {
    ...read,
    address: parseAddress(address),
    state: STATE_OF.get(status) ?? 'queued',
    error: refusal === undefined ? error : { code: status, message: refusal },
  };
}

export interface MetadataStatus {
  readonly chainId: number;
  readonly collections: MetadataCounts;
  readonly tokens: MetadataCounts;
  readonly failing: readonly {
    readonly address: string;
    readonly attempts: number;
    readonly dueAt: Date | null;
    readonly error: { readonly code: string; readonly message: string };
  }[];
}

export interface MetadataCounts {
  readonly known: number;
  readonly waiting: number;
  readonly failing: number;
}

export async function readMetadataStatuses(database: Database, failingMax: number): Promise<MetadataStatus[]> {
  const [collections, tokens, failing] = await Promise.all([
    database.query<CountsOfChain>(countsOf('nft_collections', `status NOT IN ('not-nft', 'not-contract')`)),
    database.query<CountsOfChain>(countsOf('nft_token_metadata', 'true')),
    database.query<MetadataStatus['failing'][number] & { readonly chainId: number }>(
      sql`SELECT chain_id, address, attempts, due_at, error FROM (
         SELECT chain_id, ${hexText('token_address')} AS address, attempts, due_at,
           json_build_object('code', error_code, 'message', coalesce(error_message, '')) AS error,
           row_number() OVER (PARTITION BY chain_id ORDER BY attempts DESC, token_address) AS place
         FROM nft_collections WHERE error_code IS NOT NULL) AS failing
       WHERE place <= ${failingMax} ORDER BY chain_id, place`,
    ),
  ]);
  const chainIds = [...new Set([...collections, ...tokens].map(({ chainId }) => chainId))].toSorted(
    (a, b) => a - b,
  );
  return chainIds.map((chainId) => ({
    chainId,
    collections: countsFrom(collections, chainId),
    tokens: countsFrom(tokens, chainId),
    failing: failing.filter((row) => row.chainId === chainId).map(({ chainId: _, ...collection }) => collection),
  }));
}

type CountsOfChain = MetadataCounts & { readonly chainId: number };

function countsOf(table: string, condition: string): Sql {
  return sql`SELECT chain_id, count(*) FILTER (WHERE synced_at IS NOT NULL)::int AS known,
      count(*) FILTER (WHERE status = 'pending' OR due_at <= now())::int AS waiting,
      count(*) FILTER (WHERE error_code IS NOT NULL)::int AS failing
    FROM ${rawSql(table)} WHERE ${rawSql(condition)} GROUP BY chain_id`;
}

function countsFrom(rows: readonly CountsOfChain[], chainId: number): MetadataCounts {
  const row = rows.find((counts) => counts.chainId === chainId);
  return { known: row?.known ?? 0, waiting: row?.waiting ?? 0, failing: row?.failing ?? 0 };
}
