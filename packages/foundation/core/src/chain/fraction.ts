/** Exact, denominator above zero. It is rounded once, when it is shown. */
export type Fraction = { readonly numerator: bigint; readonly denominator: bigint };

export function wholeFraction(value: bigint): Fraction {
  return { numerator: value, denominator: 1n };
}

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

/** A plain decimal, rounded half up; input at least zero. @param significant digits */
export function decimalFraction({ numerator, denominator }: Fraction, significant: number): string {
  if (numerator === 0n) return '0';
  // The lengths give the digits before the point, give or take one.
  let places = significant - (numerator.toString().length - denominator.toString().length);
  let rounded = roundedAt(numerator, denominator, places);
  if (rounded.toString().length > significant) {
    places -= 1;
    rounded = roundedAt(numerator, denominator, places);
  }
  return places <= 0 ? (rounded * 10n ** BigInt(-places)).toString() : decimalAmount(rounded.toString(), places);
}

/** In units of 1/unit, rounded half up; input at least zero. */
export function roundedUnits({ numerator, denominator }: Fraction, unit: bigint): bigint {
  return (2n * numerator * unit + denominator) / (2n * denominator);
}

/** Two decimals (`13.42`), rounded half up; input at least zero. */
export function cents(fraction: Fraction): string {
  const digits = roundedUnits(fraction, 100n).toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

const DOUBLE_DIGITS = 17;

export function nearestNumber(fraction: Fraction): number {
  return Number(decimalFraction(fraction, DOUBLE_DIGITS));
}

function roundedAt(numerator: bigint, denominator: bigint, places: number): bigint {
  const scale = 10n ** BigInt(Math.abs(places));
  const [top, bottom] = places >= 0 ? [numerator * scale, denominator] : [numerator, denominator * scale];
  return (2n * top + bottom) / (2n * bottom);
}

export function areWithin(a: Fraction, b: Fraction, factor: Fraction): boolean {
  return !exceeds(a, b, factor) && !exceeds(b, a, factor);
}

function exceeds(a: Fraction, b: Fraction, factor: Fraction): boolean {
  return a.numerator * b.denominator * factor.denominator > b.numerator * a.denominator * factor.numerator;
}

/** `1500000` with 6 decimals is `1.5`: no trailing zeros. @param baseUnits decimal digits */
export function decimalAmount(baseUnits: string, decimals: number): string {
  if (decimals === 0) return baseUnits;
  const digits = baseUnits.padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  let end = digits.length;
  while (end > point && digits.charCodeAt(end - 1) === ZERO) end--;
  return end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`;
}

const ZERO = 48;

export const MAX_UINT256 = 2n ** 256n - 1n;
