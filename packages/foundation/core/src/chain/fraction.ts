import { decimalAmount } from './decimal-amount.ts';

/** An exact number: numerator / denominator. The denominator is above zero. It is rounded once, when it is shown. */
export type Fraction = { readonly numerator: bigint; readonly denominator: bigint };

export function wholeFraction(value: bigint): Fraction {
  return { numerator: value, denominator: 1n };
}

/** Below 0 if `a` is the lesser, 0 if they are equal, above 0 otherwise. */
export function compareFractions(a: Fraction, b: Fraction): number {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator;
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

export function addFractions(a: Fraction, b: Fraction): Fraction {
  const isAlike = a.denominator === b.denominator;
  if (isAlike) return { numerator: a.numerator + b.numerator, denominator: a.denominator };
  const numerator = a.numerator * b.denominator + b.numerator * a.denominator;
  return { numerator, denominator: a.denominator * b.denominator };
}

export function multiplyFractions(a: Fraction, b: Fraction): Fraction {
  return { numerator: a.numerator * b.numerator, denominator: a.denominator * b.denominator };
}

export function invertFraction({ numerator, denominator }: Fraction): Fraction {
  return { numerator: denominator, denominator: numerator };
}

export function smallerFraction(a: Fraction, b: Fraction): Fraction {
  return compareFractions(a, b) <= 0 ? a : b;
}

/** At least zero, as a plain decimal, rounded half up. @param significant number of digits from the first that is not zero */
export function decimalFraction({ numerator, denominator }: Fraction, significant: number): string {
  if (numerator === 0n) return '0';
  // One digit more or less than wanted before the point is known from the lengths; the quotient decides.
  let places = significant - (numerator.toString().length - denominator.toString().length);
  let rounded = roundedAt(numerator, denominator, places);
  if (rounded.toString().length > significant) {
    places -= 1;
    rounded = roundedAt(numerator, denominator, places);
  }
  return places <= 0 ? (rounded * 10n ** BigInt(-places)).toString() : decimalAmount(rounded.toString(), places);
}

/** A fraction of at least zero in units of 1/unit, rounded half up. */
export function roundedUnits({ numerator, denominator }: Fraction, unit: bigint): bigint {
  return (2n * numerator * unit + denominator) / (2n * denominator);
}

/** A fraction of at least zero with two decimals, rounded half up, as dollars are shown: `13.42`. */
export function cents(fraction: Fraction): string {
  const digits = roundedUnits(fraction, 100n).toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

const DOUBLE_DIGITS = 17;

/** Returns a fraction of at least zero as the nearest number. */
export function nearestNumber(fraction: Fraction): number {
  return Number(decimalFraction(fraction, DOUBLE_DIGITS));
}

/** The quotient times 10^places, rounded half up. */
function roundedAt(numerator: bigint, denominator: bigint, places: number): bigint {
  const scale = 10n ** BigInt(Math.abs(places));
  const [top, bottom] = places >= 0 ? [numerator * scale, denominator] : [numerator, denominator * scale];
  return (2n * top + bottom) / (2n * bottom);
}

/** Whether neither value is more than `factor` times the other. */
export function areWithin(a: Fraction, b: Fraction, factor: Fraction): boolean {
  return !exceeds(a, b, factor) && !exceeds(b, a, factor);
}

function exceeds(a: Fraction, b: Fraction, factor: Fraction): boolean {
  return a.numerator * b.denominator * factor.denominator > b.numerator * a.denominator * factor.numerator;
}
