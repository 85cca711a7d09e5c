import {
  cents,
  compareFractions,
  decimalAmount,
  decimalFraction,
  type Fraction,
  nearestNumber,
  roundedUnits,
} from '@chainstead/core';
import { wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';

/** US dollars or a ratio, as a number. */
export const figure = wire.wire(z.number(), nearestNumber);
export const plain = wire.wire(z.string(), plainDecimal);
/** US dollars with two decimals. */
export const dollars = wire.wire(z.string(), cents);

const PERCENT_DIGITS = 6;

export function readDecimal(text: string): Fraction {
  const [whole = '0', digits = ''] = text.split('.');
  return { numerator: BigInt(`${whole}${digits}`), denominator: 10n ** BigInt(digits.length) };
}

/** Percent and dollars, signed; null: no price before. */
export function changeBetween(
  before: Fraction,
  now: Fraction,
): { readonly percent: number; readonly dollars: number } | null {
  if (before.numerator === 0n) return null;
  const difference = now.numerator * before.denominator - before.numerator * now.denominator;
  const sign = compareFractions(now, before) < 0 ? -1 : 1;
  const size = difference < 0n ? -difference : difference;
  const percent = { numerator: 100n * size, denominator: before.numerator * now.denominator };
  const dollars = { numerator: size, denominator: now.denominator * before.denominator };
  return {
    percent: sign * Number(decimalFraction(percent, PERCENT_DIGITS)),
    dollars: sign * nearestNumber(dollars),
  };
}

/** Null without both prices. */
export function percentOf(before: Fraction | null, now: Fraction | null): number | null {
  return before === null || now === null ? null : (changeBetween(before, now)?.percent ?? null);
}

/** 18 digits after the point; tiny prices: 6 digits that are not zero. */
export function plainDecimal(fraction: Fraction): string {
  const scaled = roundedUnits(fraction, PLACES_UNIT);
  return scaled < TINY ? decimalFraction(fraction, PERCENT_DIGITS) : decimalAmount(scaled.toString(), PLACES);
}

const PLACES = 18;
const PLACES_UNIT = 10n ** BigInt(PLACES);
const TINY = 10n ** 6n;
