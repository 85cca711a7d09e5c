import type { PriceExplanation } from '../token-price/serve/price-explanation.ts';
import type { StateSince } from '../token-price/states/side-depths.ts';
import { PriceProofError } from './proof-error.ts';

type StatedState = PriceExplanation['candidates'][number]['states'][number];

/** @param tick null: unknown, or none @throws PriceProofError */
export function readState(
  { block, reserve0, reserve1, sqrt_price_x96: root, liquidity, active_bin: activeId }: StatedState,
  tick: number | null,
): StateSince['state'] {
  const at = `the state of block ${block}`;
  if (reserve0 !== null && reserve1 !== null)
    return { of: 'reserves', reserve0: readWord(reserve0, at), reserve1: readWord(reserve1, at) };
  if (activeId !== null) return { of: 'bin', activeId };
  if (root === null || liquidity === null) throw new PriceProofError(at, 'has neither reserves nor a price');
  return { of: 'price', sqrtPriceX96: readWord(root, at), liquidity: readWord(liquidity, at), tick: tick ?? 0 };
}

const DIGITS_MAX = 1_024;
const WORD_DIGITS_MAX = 78;

/** Decimal digits. @throws PriceProofError */
export function readWord(text: string, at: string): bigint {
  return readNumber(text, at, WORD_DIGITS_MAX);
}

export function readNumber(text: string, at: string, digitsMax: number = DIGITS_MAX): bigint {
  if (text.length > digitsMax || !/^(0|[1-9]\d*)$/.test(text))
    throw new PriceProofError(at, `has ${text.slice(0, 80)}, which is not a whole number`);
  return BigInt(text);
}
