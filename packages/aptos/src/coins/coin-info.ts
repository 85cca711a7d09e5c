import { standardAddress } from '../move-type/address.ts';
import { MoveTypeError } from '../move-type/move-type-error.ts';
import { parseMoveType } from '../move-type/parse-move-type.ts';
import { jsonObject, optionValue } from '../rows/json-object.ts';
import type { AptosChange } from '../transaction.ts';
import { coinTypeOf } from './coin-type.ts';
import { truncate } from './truncate.ts';

/** The coin data of a written `CoinInfo`. Addresses, handles and keys: `0x` and 64 hexadecimal digits. */
export interface CoinInfo {
  /** The whole text. */
  readonly coinType: string;
  readonly creatorAddress: string;
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
  /** Location of a supply that transactions change in parallel; null for nearly all coins. */
  readonly supplyAggregator: { readonly handle: string; readonly key: string } | null;
}

/** Code points. */
const NAME_LENGTH_MAX = 32;
const SYMBOL_LENGTH_MAX = 10;
const DECIMALS_MAX = 255;

/** Returns the coin that a change of a write set describes; null for every other change (docs/api/aptos.md#coins). */
export function readCoinInfo(change: AptosChange): CoinInfo | null {
  if (change.type !== 'write_resource') return null;
  const resource = jsonObject(change.data);
  if (typeof resource?.type !== 'string' || !resource.type.includes('CoinInfo')) return null;
  const coinType = coinTypeOf(resource.type, 'CoinInfo');
  const creatorAddress = coinType === null ? null : creatorOf(coinType);
  const fields = jsonObject(resource.data);
  if (coinType === null || creatorAddress === null || fields === null) return null;
  const { name, symbol, decimals } = fields;
  if (typeof name !== 'string' || typeof symbol !== 'string' || !isByte(decimals)) return null;
  return {
    coinType,
    creatorAddress,
    name: truncate(name, NAME_LENGTH_MAX),
    symbol: truncate(symbol, SYMBOL_LENGTH_MAX),
    decimals,
    supplyAggregator: aggregatorOf(fields.supply),
  };
}

/** Returns the account that published the coin's type; null if no module could declare the type. */
function creatorOf(coinType: string): string | null {
  try {
    const type = parseMoveType(coinType);
    return type.kind === 'struct' ? type.address : null;
  } catch (error) {
    if (error instanceof MoveTypeError) return null;
    throw error;
  }
}

/** Reads `supply.vec[0].aggregator.vec[0]`, which is missing if the supply is untracked or an integer. */
function aggregatorOf(supply: unknown): CoinInfo['supplyAggregator'] {
  const aggregator = jsonObject(optionValue(jsonObject(optionValue(supply))?.aggregator));
  if (typeof aggregator?.handle !== 'string' || typeof aggregator.key !== 'string') return null;
  const handle = standardAddress(aggregator.handle);
  const key = standardAddress(aggregator.key);
  return handle === null || key === null ? null : { handle, key };
}

function isByte(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= DECIMALS_MAX;
}
