import { createHash } from 'node:crypto';
import { joinSql, rawSql, sql, type Transaction } from '@chainstead/db';
import type { AptosDataset, AptosSlice, DecodedRows } from '../dataset.ts';
import { FRAMEWORK_ADDRESS, standardAddress } from '../move-type/move-type.ts';
import { MoveTypeError, parseMoveType } from '../move-type/parse-move-type.ts';
import { decimalDigits, type Inserted, insertRows, jsonObject, optionValue } from '../rows/insert-rows.ts';
import { type AptosChange, wholeSeconds } from '../transaction.ts';

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

/** The columns of a row. */
interface CoinType {
  /** Cut to {@link COIN_TYPE_LENGTH_MAX}. */
  readonly coin_type: string;
  /** SHA-256 of the whole text: `0x` and 64 digits. */
  readonly coin_type_hash: string;
}

export const COIN_TYPE_LENGTH_MAX = 5_000;

function coinTypeOf(moveType: string, struct: 'CoinInfo' | 'CoinStore'): string | null {
  const open = moveType.indexOf('<');
  const close = moveType.lastIndexOf('>');
  if (open === -1 || close < open) return null;
  const outer = moveType.slice(0, open);
  if (outer !== `0x1::coin::${struct}` && !isCoinStruct(outer, struct)) return null;
  return moveType.slice(open + 1, close);
}

export function isCoinStruct(type: string, struct: string): boolean {
  if (!type.trimEnd().endsWith(struct)) return false;
  const [address, module, name, ...more] = type.split('::').map((part) => part.trim());
  return (
    address !== undefined &&
    module === 'coin' &&
    name === struct &&
    more.length === 0 &&
    standardAddress(address) === FRAMEWORK_ADDRESS
  );
}

export function createCoinTypes(): (wholeText: string) => CoinType {
  const byText = new Map<string, CoinType>();
  return (wholeText) => {
    const cached = byText.get(wholeText);
    if (cached !== undefined) return cached;
    const coinType = {
      coin_type: truncate(wholeText, COIN_TYPE_LENGTH_MAX),
      coin_type_hash: `0x${createHash('sha256').update(wholeText).digest('hex')}`,
    };
    byText.set(wholeText, coinType);
    return coinType;
  };
}

/** Keeps or drops an emoji at the cut. Does not read the rest. */
export function truncate(text: string, codePointsMax: number): string {
  if (text.length <= codePointsMax) return text;
  let end = 0;
  for (let count = 0; count < codePointsMax && end < text.length; count += 1)
    end += (text.codePointAt(end) ?? 0) > LAST_OF_ONE_UNIT ? 2 : 1;
  return text.slice(0, end);
}

const LAST_OF_ONE_UNIT = 0xffff;

export interface CoinStore {
  /** `0x` and 64 hexadecimal digits. */
  readonly owner: string;
  readonly coinType: string;
  /** Base units; 0 when deleted. */
  readonly amount: string;
  readonly deleted: boolean;
  /** {@link eventHandleKey}; empty when deleted. */
  readonly eventHandles: readonly string[];
}

/** Null: no coin store is written or deleted. */
export function readCoinStore(change: AptosChange): CoinStore | null {
  if (change.address === undefined) return null;
  if (change.type === 'write_resource') return writtenStore(change.address, change.data);
  if (change.type === 'delete_resource') return deletedStore(change.address, change.resource);
  return null;
}

export function eventHandleKey(account: string, creationNumber: string): string {
  return `${standardAddress(account)}/${creationNumber}`;
}

function writtenStore(address: string, data: unknown): CoinStore | null {
  const resource = jsonObject(data);
  if (typeof resource?.type !== 'string' || !resource.type.includes('CoinStore')) return null;
  const coinType = coinTypeOf(resource.type, 'CoinStore');
  const fields = jsonObject(resource.data);
  const amount = decimalDigits(jsonObject(fields?.coin)?.value);
  const owner = standardAddress(address);
  if (coinType === null || fields === null || amount === null || owner === null) return null;
  const eventHandles = [fields.deposit_events, fields.withdraw_events].flatMap((handle) => {
    const id = jsonObject(jsonObject(jsonObject(handle)?.guid)?.id);
    if (typeof id?.addr !== 'string' || typeof id.creation_num !== 'string') return [];
    return eventHandleKey(id.addr, id.creation_num);
  });
  return { owner, coinType, amount, deleted: false, eventHandles };
}

function deletedStore(address: string, resource: string | undefined): CoinStore | null {
  if (resource === undefined || !resource.includes('CoinStore')) return null;
  const coinType = coinTypeOf(resource, 'CoinStore');
  const owner = standardAddress(address);
  if (coinType === null || owner === null) return null;
  return { owner, coinType, amount: '0', deleted: true, eventHandles: [] };
}
