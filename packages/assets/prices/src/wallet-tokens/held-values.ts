import type { Chain } from '@chainstead/chains';
import {
  addFractions,
  decimalFraction,
  type Fraction,
  multiplyFractions,
  nearestNumber,
  smallerFraction,
  wholeFraction,
  ZERO_ADDRESS,
} from '@chainstead/core';
import type { ResolvedBalance } from '@chainstead/erc20/requests';
import { changeBetween } from '../token-price/serve/shown-values.ts';
import type { HeldPrice, HeldPrices } from './held-prices.ts';

/** Base units. Null: unknown decimals. */
export interface PricedBalance {
  readonly balance: bigint;
  readonly decimals: number | null;
  readonly price: HeldPrice | undefined;
}

export function dollarValue({ balance, decimals, price }: PricedBalance): Fraction | null {
  return price === undefined ? null : timesPrice(balance, decimals, price.usd);
}

export function nativeHolding({ native }: Chain, balance: bigint, prices: HeldPrices): PricedBalance {
  return { balance, decimals: native.decimals, price: prices.get(ZERO_ADDRESS) };
}

export function holdingOf({ token, balance, facts }: ResolvedBalance, prices: HeldPrices): PricedBalance {
  return { balance, decimals: facts.decimals, price: prices.get(token) };
}

/** The value, but at most what the token's pools could pay out. 0 without a price. */
export function payableValue(holding: PricedBalance): Fraction {
  const [value, depth] = [dollarValue(holding) ?? ZERO, holding.price?.depth ?? null];
  return depth === null ? value : smallerFraction(value, depth);
}

export function sumOf(values: readonly Fraction[]): Fraction {
  return values.reduce(addFractions, ZERO);
}

export function totalOf(holdings: readonly PricedBalance[]): Fraction {
  return sumOf(holdings.map((holding) => dollarValue(holding) ?? ZERO));
}

/** @param total US dollars of all tokens of the wallet */
export function showValues(holding: PricedBalance, total: Fraction) {
  const { balance, decimals, price } = holding;
  const value = dollarValue(holding);
  if (price === undefined || value === null) return UNVALUED;
  const change = price.before === null ? null : changeBetween(price.before, price.usd);
  const valueBefore = price.before === null ? null : timesPrice(balance, decimals, price.before);
  return {
    usd_price: nearestNumber(price.usd),
    usd_price_24hr_percent_change: change?.percent ?? null,
    usd_price_24hr_usd_change: change?.dollars ?? null,
    usd_value: nearestNumber(value),
    usd_value_24hr_usd_change: valueBefore === null ? null : (changeBetween(valueBefore, value)?.dollars ?? null),
    portfolio_percentage: percentOf(value, total),
  };
}

const ZERO = wholeFraction(0n);
const PERCENT_DIGITS = 6;

const UNVALUED = {
  usd_price: null,
  usd_price_24hr_percent_change: null,
  usd_price_24hr_usd_change: null,
  usd_value: null,
  usd_value_24hr_usd_change: null,
  portfolio_percentage: 0,
};

function timesPrice(balance: bigint, decimals: number | null, usd: Fraction): Fraction | null {
  if (decimals === null) return null;
  return multiplyFractions({ numerator: balance, denominator: 10n ** BigInt(decimals) }, usd);
}

function percentOf(value: Fraction, total: Fraction): number {
  if (total.numerator === 0n) return 0;
  const share = {
    numerator: 100n * value.numerator * total.denominator,
    denominator: value.denominator * total.numerator,
  };
  return Number(decimalFraction(share, PERCENT_DIGITS));
}
