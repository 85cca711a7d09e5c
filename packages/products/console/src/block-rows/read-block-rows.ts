import type { ChainId, Hash } from '@chainstead/core';
import { type ReadDatabase, rawSql, rowsAfter, type Sql, sql, statementOf, where } from '@chainstead/db';

export const BLOCK_LISTS = ['erc20_transfers', 'nft_transfers', 'nft_trades'] as const;
export type BlockList = (typeof BLOCK_LISTS)[number];

export interface RowPlace {
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly item: number;
}

export interface BlockRowsQuery {
  readonly chainId: ChainId;
  readonly blockNumber: number;
  /** Null: all transactions. */
  readonly transaction: Hash | null;
  readonly after: RowPlace | null;
  readonly limit: number;
}

export type BlockRow = Readonly<Record<string, unknown>>;

export interface BlockRows {
  readonly rows: readonly BlockRow[];
  readonly next: RowPlace | null;
  readonly sql: string;
}

/** Numbers that no double holds are texts in SQL, too. */
const COLUMNS: Readonly<Record<BlockList, string>> = {
  erc20_transfers:
    'transaction_hash, token_address, token_symbol, from_address, to_address, amount::text, base_units::text',
  nft_transfers:
    'transaction_hash, event, token_address, collection_name, token_id::text, last_token_id::text, from_address, to_address, amount::text',
  nft_trades:
    'transaction_hash, marketplace, token_address, collection_name, token_ids::text[], seller, buyer, price::text, payment_symbol',
};

const BLOCK_MAX = 2_147_483_647;

const PLACES: Readonly<Record<BlockList, readonly string[]>> = {
  erc20_transfers: ['transaction_index', 'log_index'],
  nft_transfers: ['transaction_index', 'log_index', 'item'],
  nft_trades: ['transaction_index', 'log_index', 'item'],
};

/** No index has hashes of transactions: reads block ranges of the partition. */
export async function readBlockRows(
  database: ReadDatabase,
  list: BlockList,
  query: BlockRowsQuery,
): Promise<BlockRows> {
  const isBeyond = query.blockNumber > BLOCK_MAX;
  const found = isBeyond ? [] : await database.select<BlockRow>(blockRowsSql(list, query, query.limit + 1));
  const rows = found.slice(0, query.limit);
  const last = found.length > query.limit ? rows.at(-1) : undefined;
  const { text, values } = statementOf(blockRowsSql(list, query, query.limit));
  return {
    rows,
    next:
      last === undefined
        ? null
        : {
            transactionIndex: Number(last.transactionIndex),
            logIndex: Number(last.logIndex),
            item: Number(last.item ?? 0),
          },
    sql: `${text.replace(/\$(\d+)/g, (_, number) => literal(values[Number(number) - 1]))};`,
  };
}

function blockRowsSql(
  list: BlockList,
  { chainId, blockNumber, transaction, after }: BlockRowsQuery,
  limit: number,
): Sql {
  const places = PLACES[list];
  const conditions = [sql`chain_id = ${chainId}`, sql`block_number = ${blockNumber}`];
  if (transaction !== null) conditions.push(sql`transaction_hash = ${transaction}`);
  if (after !== null) {
    const values = [sql`${after.transactionIndex}`, sql`${after.logIndex}`, sql`${after.item}`];
    conditions.push(rowsAfter('ASC', places, values.slice(0, places.length)));
  }
  const order = rawSql(places.join(', '));
  return sql`SELECT ${order}, ${rawSql(COLUMNS[list])} FROM analytics.${rawSql(list)} ${where(conditions)} ORDER BY ${order} LIMIT ${limit}`;
}

/** @throws TypeError for a value that is neither a number nor a hash */
function literal(value: unknown): string {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value)) return `'${value}'`;
  throw new TypeError(`${String(value).slice(0, 80)} is no hash`);
}
