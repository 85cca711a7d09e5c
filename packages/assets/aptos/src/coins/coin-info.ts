import { standardAddress } from '../move-type/move-type.ts';
import { MoveTypeError, parseMoveType } from '../move-type/parse-move-type.ts';
import { jsonObject, optionValue } from '../rows/json-object.ts';
import type { AptosChange } from '../transaction.ts';
import { coinTypeOf, truncate } from './coin-type.ts';

/** Addresses, handles, keys: `0x` and 64 hexadecimal digits. */
export interface CoinInfo {
  readonly coinType: string;
  readonly creatorAddress: string;
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly supplyAggregator: { readonly handle: string; readonly key: string } | null;
}

const NAME_LENGTH_MAX = 32;
const SYMBOL_LENGTH_MAX = 10;
const DECIMALS_MAX = 255;

/** Null: describes no coin (docs/api/aptos.md#coins). */
export function readCoinInfo(change: AptosChange): CoinInfo | null {
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
    creatorAddress,
    name: truncate(name, NAME_LENGTH_MAX),
    symbol: truncate(symbol, SYMBOL_LENGTH_MAX),
    decimals,
    supplyAggregator: aggregatorOf(fields.supply),
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

function aggregatorOf(supply: unknown): CoinInfo['supplyAggregator'] {
  const aggregator = jsonObject(optionValue(jsonObject(optionValue(supply))?.aggregator));
  if (typeof aggregator?.handle !== 'string' || typeof aggregator.key !== 'string') return null;
  const handle = standardAddress(aggregator.handle);
  const key = standardAddress(aggregator.key);
  return handle === null || key === null ? null : { handle, key };
}
