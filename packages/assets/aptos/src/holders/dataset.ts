import { sql, type Transaction } from '@chainstead/db';
import { createCoinTypes, readCoinStore } from '../coins/dataset.ts';
import type { AptosDataset, AptosSlice, DecodedRows } from '../dataset.ts';
import { type Inserted, insertRows } from '../rows/insert-rows.ts';
import { wholeSeconds } from '../transaction.ts';

const SHARED = {
  network: 'text',
  owner_address: 'bytea',
  coin_type_hash: 'bytea',
  coin_type: 'text',
  amount: 'numeric',
} as const;

const HISTORY = { ...SHARED, transaction_version: 'bigint', transaction_timestamp: 'timestamptz' } as const;

type BalanceRow = Inserted<typeof HISTORY>;

/** Amounts in written `CoinStore`s, also of failed transactions (gas); 0 when deleted. */
export const holders: AptosDataset = {
  name: 'holders',
  tables: ['aptos_balance_history', 'aptos_balances'],
  markers: ['::coin::CoinStore'],
  needsBlockHeights: false,
  derive(slice): DecodedRows {
    const rows = deriveBalances(slice);
    return { count: rows.length, write: (transaction) => insertBalances(transaction, rows) };
  },
};

export function deriveBalances({ network, transactions }: AptosSlice): BalanceRow[] {
  const describe = createCoinTypes();
  const rows = new Map<string, BalanceRow>();
  for (const { type, version, timestamp, changes } of transactions) {
    if (type !== 'user_transaction' && type !== 'genesis_transaction') continue;
    for (const change of changes) {
      const store = readCoinStore(change);
      if (store === null) continue;
      const coinType = describe(store.coinType);
      rows.set(`${store.owner}${coinType.coin_type_hash}${version}`, {
        ...{ network, owner_address: store.owner, ...coinType, amount: store.amount },
        transaction_version: version,
        transaction_timestamp: wholeSeconds(timestamp),
      });
    }
  }
  return [...rows.values()].sort((a, b) => {
    if (a.owner_address !== b.owner_address) return a.owner_address < b.owner_address ? -1 : 1;
    if (a.coin_type_hash !== b.coin_type_hash) return a.coin_type_hash < b.coin_type_hash ? -1 : 1;
    return a.transaction_version - b.transaction_version;
  });
}

/** @param rows sorted by wallet, coin and version @returns rows added to the history */
async function insertBalances(transaction: Transaction, rows: readonly BalanceRow[]): Promise<number> {
  const history = { table: 'aptos_balance_history', columns: HISTORY, onConflict: null };
  const added = await insertRows(transaction, history, rows);
  // A statement may update a balance only once.
  const newest = rows.filter((row, index) => {
    const next = rows[index + 1];
    return (
      next === undefined || next.owner_address !== row.owner_address || next.coin_type_hash !== row.coin_type_hash
    );
  });
  const balances = newest.map(({ transaction_version, transaction_timestamp, ...row }) => ({
    ...row,
    last_transaction_version: transaction_version,
    last_transaction_timestamp: transaction_timestamp,
  }));
  await insertRows(transaction, BALANCES, balances);
  return added;
}

const BALANCES = {
  table: 'aptos_balances',
  columns: { ...SHARED, last_transaction_version: 'bigint', last_transaction_timestamp: 'timestamptz' },
  onConflict: sql`(owner_address, network, coin_type_hash) DO UPDATE SET amount = excluded.amount,
    last_transaction_version = excluded.last_transaction_version,
    last_transaction_timestamp = excluded.last_transaction_timestamp
    WHERE aptos_balances.last_transaction_version < excluded.last_transaction_version`,
} as const;
