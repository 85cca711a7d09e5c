import { type Address, type ChainId, parseAddress } from '@chainstead/core';
import { addressBytes, type Database, hexText, rawSql, rowsAfter, sql, where } from '@chainstead/db';

/** `complete`: read at least once; `refused`: not an NFT collection; `failed`: retried when it is due. */
export type CollectionReadState = 'queued' | 'complete' | 'refused' | 'failed';

/** The read state of a collection's metadata that a client or a wallet's list requested. */
export interface CollectionRead {
  readonly chainId: ChainId;
  readonly address: Address;
  readonly name: string | null;
  readonly state: CollectionReadState;
  /** Null: never. */
  readonly readAt: Date | null;
  /** When it is read next; null if nothing is scheduled. */
  readonly dueAt: Date | null;
  /** Failures since the last success. */
  readonly attempts: number;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface CollectionReadsRequested {
  /** Null: all chains. */
  readonly chainId: ChainId | null;
  /** Null: any state. */
  readonly state: CollectionReadState | null;
  /** The key after which the page starts; null for the first page. */
  readonly after: Pick<CollectionRead, 'chainId' | 'address'> | null;
  readonly limit: number;
}

export interface CollectionReadsPage {
  readonly collections: readonly CollectionRead[];
  /**
   * The key after which the next page starts; null on the last one. A page may be short or empty although others
   * follow.
   */
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

/** Rows examined for one page, whatever the filter. */
const LOOKED_AT = 20_000;

const KEY = ['token_address', 'chain_id'];
const COLUMNS = sql`chain_id, ${hexText('token_address')} AS address, name, status, synced_at, due_at, attempts, error_code, error_message`;

interface Row {
  readonly chain_id: ChainId;
  readonly address: string;
  readonly name: string | null;
  readonly status: string;
  readonly synced_at: Date | null;
  readonly due_at: Date | null;
  readonly attempts: number;
  readonly error_code: string | null;
  readonly error_message: string | null;
}

/** Returns requested collections by address. Examines a bounded number of rows, however few match. */
export async function listCollectionReads(
  database: Pick<Database, 'query'>,
  { chainId, state, after, limit }: CollectionReadsRequested,
): Promise<CollectionReadsPage> {
  const behind =
    after === null ? [] : [rowsAfter('ASC', KEY, [sql`${addressBytes(after.address)}`, sql`${after.chainId}::bigint`])];
  const from = sql`FROM nft_collections ${where(behind)} ORDER BY token_address, chain_id`;
  const wanted = [
    ...(chainId === null ? [] : [sql`chain_id = ${chainId}`]),
    ...(state === null ? [] : [sql`status = ANY (${STATUSES[state]})`]),
  ];
  const rows = await database.query<Row>(
    sql`SELECT ${COLUMNS} FROM (SELECT * ${from} LIMIT ${rawSql(LOOKED_AT)}) AS looked_at
      ${where(wanted)} ORDER BY token_address, chain_id LIMIT ${limit + 1}`,
  );
  const collections = rows.slice(0, limit).map(toRead);
  if (rows.length > limit) return { collections, next: collections.at(-1) ?? null };
  const [last] = await database.query<Row>(
    sql`SELECT ${COLUMNS} FROM (SELECT * ${from} OFFSET ${rawSql(LOOKED_AT - 1)} LIMIT 1) AS looked_at`,
  );
  return { collections, next: last === undefined ? null : toRead(last) };
}

function toRead(row: Row): CollectionRead {
  const refusal = REFUSALS[row.status];
  const error = row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' };
  return {
    chainId: row.chain_id,
    address: parseAddress(row.address),
    name: row.name,
    state: STATE_OF.get(row.status) ?? 'queued',
    readAt: row.synced_at,
    dueAt: row.due_at,
    attempts: row.attempts,
    error: refusal === undefined ? error : { code: row.status, message: refusal },
  };
}
