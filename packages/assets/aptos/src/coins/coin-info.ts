import { standardAddress } from '../move-type/move-type.ts';
import { MoveTypeError, parseMoveType } from '../move-type/parse-move-type.ts';
import { jsonObject, optionValue } from '../rows/json-object.ts';
import type { AptosChange } from '../transaction.ts';
import { coinTypeOf, truncate } from './coin-type.ts';

const NAME_LENGTH_MAX = 32;
const SYMBOL_LENGTH_MAX = 10;
const DECIMALS_MAX = 255;

/** The columns of a coin. Null: describes none (docs/api/aptos.md#coins). */
export function readCoinInfo(change: AptosChange) {
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
  const addressIn = (value: unknown): string | null => (typeof value === 'string' ? standardAddress(value) : null);
  const [handle, key] = [addressIn(aggregator?.handle), addressIn(aggregator?.key)];
  const isWhole = handle !== null && key !== null;
  return {
    supply_aggregator_table_handle: isWhole ? handle : null,
    supply_aggregator_table_key: isWhole ? key : null,
  };
}
