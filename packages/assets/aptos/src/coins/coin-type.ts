import { createHash } from 'node:crypto';
import { FRAMEWORK_ADDRESS, standardAddress } from '../move-type/move-type.ts';

/** The columns of a row. */
interface CoinType {
  /** Cut to {@link COIN_TYPE_LENGTH_MAX}. */
  readonly coin_type: string;
  /** SHA-256 of the whole text: `0x` and 64 digits. */
  readonly coin_type_hash: string;
}

export const COIN_TYPE_LENGTH_MAX = 5_000;

export function coinTypeOf(moveType: string, struct: 'CoinInfo' | 'CoinStore'): string | null {
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
