import { joinSql, rawSql, sql, type Transaction } from '@chainstead/db';
import type { AptosDataset, AptosSlice, DecodedRows } from '../dataset.ts';
import { type Insert, type InsertColumn, insertRows } from '../rows/insert-rows.ts';
import { type AptosNetwork, wholeSeconds } from '../transaction.ts';
import { type CoinInfo, readCoinInfo } from './coin-info.ts';
import { type CoinType, createCoinTypes } from './coin-type.ts';

export interface StoredCoin extends Omit<CoinInfo, 'coinType'> {
  readonly network: AptosNetwork;
  readonly coinType: CoinType;
  readonly transactionVersion: number;
  readonly transactionTimestamp: Date;
}

/** By the first `CoinInfo`: later ones don't count (docs/api/aptos.md#coins). */
export const coins: AptosDataset = {
  name: 'coins',
  tables: ['aptos_coins'],
  markers: ['::coin::CoinInfo'],
  needsBlockHeights: false,
  derive(slice): DecodedRows {
    const rows = deriveCoins(slice);
    return { count: rows.length, write: (transaction) => writeCoins(transaction, rows) };
  },
};

/** The earlier version stays. @returns number of new rows */
export function writeCoins(transaction: Transaction, rows: readonly StoredCoin[]): Promise<number> {
  return insertRows(transaction, INSERT, rows);
}

export function deriveCoins({ network, transactions }: AptosSlice): StoredCoin[] {
  const describe = createCoinTypes();
  const earliest = new Map<string, StoredCoin>();
  for (const transaction of transactions) {
    if (transaction.type !== 'user_transaction' && transaction.type !== 'genesis_transaction') continue;
    for (const info of transaction.changes.map(readCoinInfo).filter((change) => change !== null)) {
      const coinType = describe(info.coinType);
      const earlier = earliest.get(coinType.hash);
      if (earlier !== undefined && earlier.transactionVersion < transaction.version) continue;
      earliest.set(coinType.hash, {
        ...info,
        network,
        coinType,
        transactionVersion: transaction.version,
        transactionTimestamp: wholeSeconds(transaction.timestamp),
      });
    }
  }
  return [...earliest.values()].sort((a, b) => (a.coinType.hash < b.coinType.hash ? -1 : 1));
}

const REPLACED: readonly InsertColumn<StoredCoin>[] = [
  { name: 'coin_type', type: 'text', value: (row) => row.coinType.text },
  { name: 'creator_address', type: 'bytea', value: (row) => row.creatorAddress },
  { name: 'name', type: 'text', value: (row) => row.name },
  { name: 'symbol', type: 'text', value: (row) => row.symbol },
  { name: 'decimals', type: 'integer', value: (row) => row.decimals },
  { name: 'supply_aggregator_table_handle', type: 'bytea', value: (row) => row.supplyAggregator?.handle ?? null },
  { name: 'supply_aggregator_table_key', type: 'bytea', value: (row) => row.supplyAggregator?.key ?? null },
  { name: 'transaction_version', type: 'bigint', value: (row) => row.transactionVersion },
  { name: 'transaction_timestamp', type: 'timestamptz', value: (row) => row.transactionTimestamp },
];

const INSERT: Insert<StoredCoin> = {
  table: 'aptos_coins',
  columns: [
    { name: 'network', type: 'text', value: (row) => row.network },
    { name: 'coin_type_hash', type: 'bytea', value: (row) => row.coinType.hash },
    ...REPLACED,
  ],
  onConflict: sql`(coin_type_hash, network) DO UPDATE SET ${joinSql(REPLACED.map(({ name }) => rawSql(`${name} = excluded.${name}`)))}
    WHERE aptos_coins.transaction_version > excluded.transaction_version`,
};
