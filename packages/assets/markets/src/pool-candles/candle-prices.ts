import type { Fraction } from '@chainstead/core';
import type { OpenCandle } from '../trade-values/candle.ts';
import { CURRENCIES, type Currency } from '../trade-values/price-trade.ts';

export type StoredPrices = Pick<OpenCandle, 'prices' | 'isPriced'>;

/**
 * Per currency a byte: number of prices (0; 1: all equal; 4: open, high, low, close), +8 if all
 * trades are priced. Each price: numerator and denominator, each after its length in two bytes.
 */
export function packPrices(candles: Readonly<Record<Currency, StoredPrices>>): Buffer {
  const parts: Buffer[] = [];
  for (const currency of CURRENCIES) {
    const { prices, isPriced } = candles[currency];
    const fractions =
      prices === null ? [] : distinct([prices.open, prices.high, prices.low, prices.close].map(reduced));
    parts.push(Buffer.of(fractions.length + (isPriced ? IS_PRICED : 0)));
    for (const { numerator, denominator } of fractions) parts.push(packed(numerator), packed(denominator));
  }
  return Buffer.concat(parts);
}

export function unpackPrices(bytes: Buffer): Readonly<Record<Currency, StoredPrices>> {
  let offset = 0;
  const number = (): bigint => {
    const length = bytes.readUInt16BE(offset);
    offset += 2 + length;
    return length === 0 ? 0n : BigInt(`0x${bytes.toString('hex', offset - length, offset)}`);
  };
  const currency = (): StoredPrices => {
    const flags = bytes.readUInt8(offset);
    offset += 1;
    const fractions = Array.from({ length: flags % IS_PRICED }, () => ({
      numerator: number(),
      denominator: number(),
    }));
    const [open, high = open, low = open, close = open] = fractions;
    const prices = open && high && low && close ? { open, high, low, close } : null;
    return { prices, isPriced: flags >= IS_PRICED };
  };
  return { usd: currency(), native: currency() };
}

const IS_PRICED = 8;

function distinct(fractions: readonly Fraction[]): readonly Fraction[] {
  const [first] = fractions;
  const isOne = fractions.every(
    ({ numerator, denominator }) => numerator === first?.numerator && denominator === first.denominator,
  );
  return isOne ? fractions.slice(0, 1) : fractions;
}

function packed(number: bigint): Buffer {
  const hex = number === 0n ? '' : number.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function reduced({ numerator, denominator }: Fraction): Fraction {
  let [divisor, rest] = [numerator, denominator];
  while (rest !== 0n) [divisor, rest] = [rest, divisor % rest];
  return divisor <= 1n
    ? { numerator, denominator }
    : { numerator: numerator / divisor, denominator: denominator / divisor };
}
