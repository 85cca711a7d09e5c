import { sql, type Transaction } from '@chainstead/db';
import { readCoinStore } from '../coins/coin-store.ts';
import { type CoinType, createCoinTypes } from '../coins/coin-type.ts';
import type { AptosDataset, AptosSlice, DecodedRows } from '../dataset.ts';
import { type Insert, type InsertColumn, insertRows } from '../rows/insert-rows.ts';
import { type AptosNetwork, wholeSeconds } from '../transaction.ts';

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

export function deriveBalances({ network, transactions }: AptosSlice): StoredBalance[] {
  const describe = createCoinTypes();
  const rows = new Map<string, StoredBalance>();
  for (const { type, version, timestamp, changes } of transactions) {
    if (type !== 'user_transaction' && type !== 'genesis_transaction') continue;
    for (const change of changes) {
      const store = readCoinStore(change);
      if (store === null) continue;
      const coinType = describe(store.coinType);
      rows.set(`${store.owner}${coinType.hash}${version}`, {
        network,
        ownerAddress: store.owner,
        coinType,
        transactionVersion: version,
        amount: store.amount,
        transactionTimestamp: wholeSeconds(timestamp),
      });
    }
  }
  return [...rows.values()].sort((a, b) => {
    if (a.ownerAddress !== b.ownerAddress) return a.ownerAddress < b.ownerAddress ? -1 : 1;
    if (a.coinType.hash !== b.coinType.hash) return a.coinType.hash < b.coinType.hash ? -1 : 1;
    return a.transactionVersion - b.transactionVersion;
  });
}

interface StoredBalance {
  readonly network: AptosNetwork;
  readonly ownerAddress: string;
  readonly coinType: CoinType;
  readonly transactionVersion: number;
  /** Base units. */
  readonly amount: string;
  readonly transactionTimestamp: Date;
}

/** @param rows sorted by wallet, coin and version @returns rows added to the history */
async function insertBalances(transaction: Transaction, rows: readonly StoredBalance[]): Promise<number> {
  const added = await insertRows(transaction, HISTORY, rows);
  // A statement may update a balance only once.
  const newest = rows.filter((row, index) => {
    const next = rows[index + 1];
    return next === undefined || next.ownerAddress !== row.ownerAddress || next.coinType.hash !== row.coinType.hash;
  });
  await insertRows(transaction, BALANCES, newest);
  return added;
}

const SHARED: readonly InsertColumn<StoredBalance>[] = [
  { name: 'network', type: 'text', value: (row) => row.network },
  { name: 'owner_address', type: 'bytea', value: (row) => row.ownerAddress },
  { name: 'coin_type_hash', type: 'bytea', value: (row) => row.coinType.hash },
  { name: 'coin_type', type: 'text', value: (row) => row.coinType.text },
  { name: 'amount', type: 'numeric', value: (row) => row.amount },
];

const HISTORY: Insert<StoredBalance> = {
  table: 'aptos_balance_history',
  columns: [
    ...SHARED,
    { name: 'transaction_version', type: 'bigint', value: (row) => row.transactionVersion },
    { name: 'transaction_timestamp', type: 'timestamptz', value: (row) => row.transactionTimestamp },
  ],
  onConflict: null,
};

const BALANCES: Insert<StoredBalance> = {
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
