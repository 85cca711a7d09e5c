import { createHash } from 'node:crypto';
import { FRAMEWORK_ADDRESS, standardAddress } from '../move-type/address.ts';
import { truncate } from './truncate.ts';

/** A coin type as stored in the tables. */
export interface CoinType {
  /** The text from the node, cut to {@link COIN_TYPE_LENGTH_MAX}. */
  readonly text: string;
  /** SHA-256 of the whole text: `0x` and 64 hexadecimal digits. */
  readonly hash: string;
}

/** Code points. */
export const COIN_TYPE_LENGTH_MAX = 5_000;

/**
 * Returns `T` of `0x1::coin::CoinInfo<T>` (or of `CoinStore`), for any spelling of the address: the unchanged text
 * between the first `<` and the last `>`. Null for every other type.
 */
export function coinTypeOf(moveType: string, struct: 'CoinInfo' | 'CoinStore'): string | null {
  const open = moveType.indexOf('<');
  const close = moveType.lastIndexOf('>');
  if (open === -1 || close < open) return null;
  const outer = moveType.slice(0, open);
  if (outer !== `0x1::coin::${struct}` && !isCoinStruct(outer, struct)) return null;
  return moveType.slice(open + 1, close);
}

/** Whether a type without generics is in the framework's module `coin`. */
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

/** Describes coin types, each text once: a slice contains few of them, many times each. */
export function createCoinTypes(): (wholeText: string) => CoinType {
  const known = new Map<string, CoinType>();
  return (wholeText) => {
    const found = known.get(wholeText);
    if (found !== undefined) return found;
    const described = {
      text: truncate(wholeText, COIN_TYPE_LENGTH_MAX),
      hash: `0x${createHash('sha256').update(wholeText).digest('hex')}`,
    };
    known.set(wholeText, described);
    return described;
  };
}
