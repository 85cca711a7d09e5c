import { sql, type Transaction } from '@chainstead/db';
import { type Insert, type InsertColumn, insertRows } from '../rows/insert-rows.ts';
import type { BalanceRow } from './balance-row.ts';

/**
 * Adds rows to the history and updates balances to the newest of them.
 * @param rows sorted by wallet, coin and version
 * @returns number of rows added to the history
 */
export async function insertBalances(transaction: Transaction, rows: readonly BalanceRow[]): Promise<number> {
  const added = await insertRows(transaction, HISTORY, rows);
  await insertRows(transaction, BALANCES, newestOf(rows));
  return added;
}

/** Returns the last row of each wallet and coin: a statement may update a balance only once. */
function newestOf(rows: readonly BalanceRow[]): readonly BalanceRow[] {
  return rows.filter((row, index) => {
    const next = rows[index + 1];
    return next === undefined || next.ownerAddress !== row.ownerAddress || next.coinType.hash !== row.coinType.hash;
  });
}

const SHARED: readonly InsertColumn<BalanceRow>[] = [
  { name: 'network', type: 'text', value: (row) => row.network },
  { name: 'owner_address', type: 'bytea', value: (row) => row.ownerAddress },
  { name: 'coin_type_hash', type: 'bytea', value: (row) => row.coinType.hash },
  { name: 'coin_type', type: 'text', value: (row) => row.coinType.text },
  { name: 'amount', type: 'numeric', value: (row) => row.amount },
];

const HISTORY: Insert<BalanceRow> = {
  table: 'aptos_balance_history',
  columns: [
    ...SHARED,
    { name: 'transaction_version', type: 'bigint', value: (row) => row.transactionVersion },
    { name: 'transaction_timestamp', type: 'timestamptz', value: (row) => row.transactionTimestamp },
  ],
  onConflict: null,
};

const BALANCES: Insert<BalanceRow> = {
  table: 'aptos_balances',
  columns: [
    ...SHARED,
    { name: 'last_transaction_version', type: 'bigint', value: (row) => row.transactionVersion },
    { name: 'last_transaction_timestamp', type: 'timestamptz', value: (row) => row.transactionTimestamp },
  ],
  onConflict: sql`(owner_address, network, coin_type_hash) DO UPDATE SET amount = excluded.amount,
    last_transaction_version = excluded.last_transaction_version,
    last_transaction_timestamp = excluded.last_transaction_timestamp
    WHERE aptos_balances.last_transaction_version < excluded.last_transaction_version`,
};
