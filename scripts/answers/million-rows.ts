/** Rows of one subject in each table that lists read, made in the database from a stored row. */
import type { Database } from '@chainstead/db';

/** Rows of each subject. */
export const ROWS = 1_000_000;

export interface RowSubjects {
  readonly chainId: number;
  readonly wallet: string;
  readonly token: string;
  readonly collection: string;
  /** Blocks that are stored, between which the rows are spread. */
  readonly blocks: { readonly first: number; readonly last: number };
}

/** How a table's rows differ from the stored row that they are copied from. Values are SQL over `n`, their number from 0. */
interface Copies {
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

/** Stores a million rows of the wallet, the token, the collection, a pool, an Aptos account and a coin. */
export async function storeRows(database: Database, subjects: RowSubjects): Promise<void> {
  for (const copies of copiesOf(subjects)) await storeCopies(database, copies);
  await database.query('ANALYZE');
}

async function storeCopies(database: Database, { table, where = 'true', values }: Copies): Promise<void> {
  const [schema, name] = table.includes('.') ? table.split('.') : ['public', table];
  const columns = await database.query<{ readonly name: string }>(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = $1 AND table_name = $2 AND is_generated = 'NEVER'`,
    [schema, name],
  );
  const unknown = Object.keys(values).filter((key) => !columns.some((column) => column.name === key));
  if (unknown.length > 0) throw new RangeError(`${table} has no column ${unknown.join(', ')}`);
  const [{ stored } = { stored: 0 }] = await database.query<{ readonly stored: number }>(
    `WITH copied AS (
       INSERT INTO ${table} (${columns.map((column) => `"${column.name}"`).join(', ')})
       SELECT ${columns.map((column) => values[column.name] ?? `stored."${column.name}"`).join(', ')}
       FROM (SELECT * FROM ${table} WHERE ${where} LIMIT 1) AS stored CROSS JOIN generate_series(0, ${ROWS} - 1) AS n
       ON CONFLICT DO NOTHING RETURNING 1)
     SELECT count(*) AS stored FROM copied`,
  );
  if (stored < ROWS) throw new RangeError(`${table} got ${stored} rows`);
}

function copiesOf({ chainId, wallet, token, collection, blocks }: RowSubjects): readonly Copies[] {
  const perBlock = Math.ceil(ROWS / (blocks.last - blocks.first + 1));
  const inBlock = {
    block_number: `${blocks.first} + n / ${perBlock}`,
    transaction_index: `1000 + n % ${perBlock}`,
  };
  const logged = { ...inBlock, log_index: `1000 + n % ${perBlock}`, transaction_hash: HASH };
  const chain = `chain_id = ${chainId}`;
  const [owner, erc20, nft] = [bytes(wallet), bytes(token), bytes(collection)];
  const moved = { ...logged, token: erc20, value: '1' };
  return [
    ...[
      { direction: '0', account: owner, account_key: keyOf(owner), counterparty: ACCOUNT },
      { direction: '1', account: ACCOUNT, account_key: keyOf(ACCOUNT), counterparty: owner },
    ].map((side) => ({ table: 'erc20_transfer_sides', where: chain, values: { ...moved, ...side } })),
    {
      ...{ table: 'erc20_approvals', where: chain },
      values: { ...moved, owner, owner_key: keyOf(owner), spender: ACCOUNT },
    },
    {
      ...{ table: 'logs', where: `${chain} AND address = ${erc20}` },
      values: { ...logged },
    },
    {
      ...{ table: 'transactions', where: `${chain} AND from_address = ${owner}` },
      values: { ...inBlock, transaction_hash: HASH, transaction_key: HASH_KEY, nonce: '100000 + n', to_address: erc20 },
    },
    {
      ...{ table: 'account_transactions', where: `${chain} AND account = ${owner}` },
      values: { ...inBlock, transaction_key: HASH_KEY },
    },
    {
      ...{ table: 'nft_transfers', where: `${chain} AND token_address = ${nft} AND last_token_id IS NULL` },
      values: {
        ...{ ...logged, token_id: '100000 + n', to_address: owner, amount: '1' },
        from_address: bytes(`0x${'0'.repeat(40)}`),
      },
    },
    {
      ...{ table: 'nft_trades', where: chain },
      values: { ...logged, token_address: nft, collection_key: keyOf(nft), buyer: owner, token_id: '100000 + n' },
    },
    {
      ...{ table: 'swaps', where: `${chain} AND kind = 0` },
      values: { ...logged, wallet: owner },
    },
    {
      ...{ table: 'contracts.market_order_fulfilled', where: chain },
      values: { ...logged },
    },
    {
      table: 'aptos_transfers',
      values: { transaction_version: '1000000 + n', event_index: '0' },
    },
    {
      table: 'aptos_balance_history',
      values: { transaction_version: '1000000 + n' },
    },
    {
      table: 'aptos_balances',
      where: 'amount > 0',
      values: { owner_address: `decode('ab' || lpad(to_hex(n), 62, '0'), 'hex')`, amount: '1 + n' },
    },
  ];
}
