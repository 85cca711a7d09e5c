import { joinSql, rawSql, sql, type Transaction } from '@chainstead/db';
import type { AptosDataset, AptosSlice, DecodedRows } from '../dataset.ts';
import { standardAddress } from '../move-type/move-type.ts';
import { MoveTypeError, parseMoveType } from '../move-type/parse-move-type.ts';
import { type Inserted, insertRows } from '../rows/insert-rows.ts';
import { jsonObject, optionValue } from '../rows/json-object.ts';
import { type AptosChange, wholeSeconds } from '../transaction.ts';
import { coinTypeOf, createCoinTypes, truncate } from './coin-type.ts';

const REPLACED = {
  coin_type: 'text',
  creator_address: 'bytea',
  name: 'text',
  symbol: 'text',
  decimals: 'integer',
  supply_aggregator_table_handle: 'bytea?',
  supply_aggregator_table_key: 'bytea?',
  transaction_version: 'bigint',
  transaction_timestamp: 'timestamptz',
} as const;

const COLUMNS = { network: 'text', coin_type_hash: 'bytea', ...REPLACED } as const;

export type CoinRow = Inserted<typeof COLUMNS>;

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
export function writeCoins(transaction: Transaction, rows: readonly CoinRow[]): Promise<number> {
  const replaced = Object.keys(REPLACED).map((name) => rawSql(`${name} = excluded.${name}`));
  const onConflict = sql`(coin_type_hash, network) DO UPDATE SET ${joinSql(replaced)}
    WHERE aptos_coins.transaction_version > excluded.transaction_version`;
  return insertRows(transaction, { table: 'aptos_coins', columns: COLUMNS, onConflict }, rows);
}

export function deriveCoins({ network, transactions }: AptosSlice): CoinRow[] {
  const describe = createCoinTypes();
  const earliest = new Map<string, CoinRow>();
  for (const { type, version, timestamp, changes } of transactions) {
    if (type !== 'user_transaction' && type !== 'genesis_transaction') continue;
    for (const { coinType, ...info } of changes.map(readCoinInfo).filter((change) => change !== null)) {
      const described = describe(coinType);
      const earlier = earliest.get(described.coin_type_hash);
      if (earlier !== undefined && earlier.transaction_version < version) continue;
      const place = { transaction_version: version, transaction_timestamp: wholeSeconds(timestamp) };
      earliest.set(described.coin_type_hash, { network, ...described, ...info, ...place });
    }
  }
  return [...earliest.values()].sort((a, b) => (a.coin_type_hash < b.coin_type_hash ? -1 : 1));
}

const NAME_LENGTH_MAX = 32;
const SYMBOL_LENGTH_MAX = 10;
const DECIMALS_MAX = 255;

/** The columns of a coin. Null: describes none (docs/api/aptos.md#coins). */
function readCoinInfo(change: AptosChange) {
  if (change.type !== 'write_resource') return null;
  const resource = jsonObject(change.data);
  if (typeof resource?.type !== 'string' || !resource.type.includes('CoinInfo')) return null;
  const coinType = coinTypeOf(resource.type, 'CoinInfo');
  const creatorAddress = coinType === null ? null : creatorOf(coinType);
  const fields = jsonObject(resource.data);
  if (coinType === null || creatorAddress === null || fields === null) return null;
  const { name, symbol, decimals } = fields;
  if (typeof name !== 'string' || typeof symbol !== 'string' || typeof decimals !== 'number') return null;
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > DECIMALS_MAX) return null;
  return {
    coinType,
    creator_address: creatorAddress,
    name: truncate(name, NAME_LENGTH_MAX),
    symbol: truncate(symbol, SYMBOL_LENGTH_MAX),
    decimals,
    ...aggregatorOf(fields.supply),
  };
}

function creatorOf(coinType: string): string | null {
  try {
    const type = parseMoveType(coinType);
    return type.kind === 'struct' ? type.address : null;
  } catch (error) {
    if (error instanceof MoveTypeError) return null;
    throw error;
  }
}

function aggregatorOf(supply: unknown) {
  const aggregator = jsonObject(optionValue(jsonObject(optionValue(supply))?.aggregator));
  const addressIn = (value: unknown): string | null =>
    typeof value === 'string' ? standardAddress(value) : null;
  const [handle, key] = [addressIn(aggregator?.handle), addressIn(aggregator?.key)];
  const isWhole = handle !== null && key !== null;
  return {
    supply_aggregator_table_handle: isWhole ? handle : null,
    supply_aggregator_table_key: isWhole ? key : null,
  };
}
