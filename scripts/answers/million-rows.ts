/** Rows of one subject in each table that lists read, made in the database from a stored row. */
import { type Database, rawSql, sql } from '@chainstead/db';

/** Rows of each subject. */
export const ROWS = 1_000_000;

export interface RowSubjects {
  readonly chainId: number;
  readonly wallet: string;
  readonly token: string;
  readonly collection: string;
  /** Address of a pool with swaps. */
  readonly pool: string;
  /** Blocks that are stored, between which the rows are spread. */
  readonly blocks: { readonly first: number; readonly last: number };
}

/** How a table's rows differ from the stored row that they are copied from. Values are SQL over `n`, their number from 0. */
export interface Copies {
  readonly table: string;
  /** Selects the stored row. */
  readonly where?: string;
  readonly values: Readonly<Record<string, string>>;
}

const bytes = (hex: string): string => `decode('${hex.slice(2)}', 'hex')`;
const ACCOUNT = `decode('ab' || lpad(to_hex(n), 38, '0'), 'hex')`;
const HASH = `decode(md5(n::text) || md5(n::text), 'hex')`;
const HASH_KEY = `('x' || left(md5(n::text), 16))::bit(64)::bigint`;
const keyOf = (address: string): string => `address_key(${address})`;

/** Stores a million copies in each of the tables. @throws RangeError if a table has no row to copy */
export async function storeRows(database: Database, tables: readonly Copies[]): Promise<void> {
  const waiting = tables.values();
  // Two processors store them.
  const store = async (): Promise<void> => {
    for (const copies of waiting) await storeCopies(database, copies);
  };
  await Promise.all([store(), store()]);
  await database.query(sql`ANALYZE`);
}

async function storeCopies(database: Database, { table, where = 'true', values }: Copies): Promise<void> {
  const [schema, name] = table.includes('.') ? table.split('.') : ['public', table];
  const columns = await database.query<{ readonly name: string }>(
    sql`SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = ${schema ?? null} AND table_name = ${name ?? null} AND is_generated = 'NEVER'`,
  );
  const unknown = Object.keys(values).filter((key) => !columns.some((column) => column.name === key));
  if (unknown.length > 0) throw new RangeError(`${table} has no column ${unknown.join(', ')}`);
  await database.query(
    sql`INSERT INTO ${rawSql(table)} (${rawSql(columns.map((column) => `"${column.name}"`).join(', '))})
     SELECT ${rawSql(columns.map((column) => values[column.name] ?? `stored."${column.name}"`).join(', '))}
     FROM (SELECT * FROM ${rawSql(table)} WHERE ${rawSql(where)} LIMIT 1) AS stored CROSS JOIN generate_series(0, ${rawSql(ROWS)} - 1) AS n`,
  );
  const [stored] = await database.query(sql`SELECT FROM ${rawSql(table)} OFFSET ${rawSql(ROWS)} LIMIT 1`);
  if (stored === undefined) throw new RangeError(`${table} has no stored row to copy`);
}

/** Rows of the wallet, the token, the collection and the pool, in three parts of similar size. */
export function rowsOfChain({
  chainId,
  wallet,
  token,
  collection,
  pool,
  blocks,
}: RowSubjects): Readonly<Record<'transfers' | 'transactions' | 'markets', readonly Copies[]>> {
  const perBlock = Math.ceil(ROWS / (blocks.last - blocks.first + 1));
  const inBlock = {
    block_number: `${blocks.first} + n / ${perBlock}`,
    transaction_index: `1000 + n % ${perBlock}`,
  };
  const logged = { ...inBlock, log_index: `1000 + n % ${perBlock}`, transaction_hash: HASH };
  const chain = `chain_id = ${chainId}`;
  const [owner, erc20, nft] = [bytes(wallet), bytes(token), bytes(collection)];
  const moved = { ...logged, token: erc20, value: '1' };
  return {
    transfers: [
      ...[
        { direction: '0', account: owner, account_key: keyOf(owner), counterparty: ACCOUNT },
        { direction: '1', account: ACCOUNT, account_key: keyOf(ACCOUNT), counterparty: owner },
      ].map((side) => ({ table: 'erc20_transfer_sides', where: chain, values: { ...moved, ...side } })),
      {
        ...{ table: 'erc20_approvals', where: chain },
        values: { ...moved, owner, owner_key: keyOf(owner), spender: ACCOUNT },
      },
      {
        ...{ table: 'nft_transfers', where: `${chain} AND token_address = ${nft} AND last_token_id IS NULL` },
        values: {
          ...{ ...logged, token_id: '100000 + n', to_address: owner, amount: '1' },
          from_address: bytes(`0x${'0'.repeat(40)}`),
        },
      },
    ],
    transactions: [
      {
        ...{ table: 'logs', where: `${chain} AND address = ${erc20}` },
        values: { ...logged },
      },
      {
        ...{ table: 'transactions', where: `${chain} AND from_address = ${owner}` },
        values: {
          ...inBlock,
          transaction_hash: HASH,
          transaction_key: HASH_KEY,
          nonce: '100000 + n',
          to_address: erc20,
        },
      },
      {
        ...{ table: 'account_transactions', where: `${chain} AND account = ${owner}` },
        values: { ...inBlock, transaction_key: HASH_KEY },
      },
    ],
    markets: [
      {
        ...{ table: 'nft_trades', where: chain },
        values: {
          ...logged,
          token_address: nft,
          collection_key: keyOf(nft),
          buyer: owner,
          token_id: '100000 + n',
        },
      },
      {
        ...{ table: 'swaps', where: `${chain} AND pool = ${bytes(pool)} AND kind = 0` },
        values: { ...logged, wallet: owner },
      },
      {
        ...{ table: 'contracts.market_order_fulfilled', where: chain },
        values: { ...logged },
      },
    ],
  };
}

/** Rows of an Aptos account, and holders of its coin. */
export function rowsOfAptos(owner: string): readonly Copies[] {
  return [
    {
      table: 'aptos_transfers',
      values: { transaction_version: '1000000 + n', event_index: '0', owner_address: bytes(owner) },
    },
    {
      table: 'aptos_balance_history',
      values: { transaction_version: '1000000 + n', owner_address: bytes(owner) },
    },
    {
      table: 'aptos_balances',
      where: 'amount > 0',
      values: { owner_address: `decode('ab' || lpad(to_hex(n), 62, '0'), 'hex')`, amount: '1 + n' },
    },
  ];
}
