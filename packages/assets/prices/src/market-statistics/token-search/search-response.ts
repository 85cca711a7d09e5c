import type { Chain } from '@chainstead/chains';
import { type Fraction, nearestNumber } from '@chainstead/core';
import { each, view, wire } from '@chainstead/http';
import { DOLLAR, type TradeSums } from '@chainstead/markets/requests';
import { figure, percentOf } from '../../token-price/serve/shown-values.ts';
import { overWindows } from '../over-windows.ts';
import { dilutedValuation, type TokenSpans, volumeOf } from '../token-analytics/read-token-spans.ts';
import { supplyOf } from './rank-candidates.ts';
import type { Candidate } from './search-statement.ts';

/** Seconds. */
export const SEARCH_WINDOWS = { oneHour: 3_600, oneDay: 86_400, oneWeek: 604_800 } as const;

interface FoundToken {
  readonly token: Candidate;
  readonly chain: Chain;
  readonly spans: TokenSpans | undefined;
  /** Null: not counted lately. */
  readonly holders: number | null;
}

const { address, count, flag, nothing, number, quantity, text } = wire;

const itself = view('TokenImplementation', ({ chain, token }: FoundToken) => ({ chain, token }), {
  chainId: quantity('Hexadecimal chain id', ({ chain }) => chain.id),
  chain: text('Name of the chain in requests', ({ chain }) => chain.key),
  chainName: text('Display name of the chain', ({ chain }) => chain.name),
  address: text('Token contract', ({ token }) => token.address),
});

function sourceOf(found: FoundToken) {
  const { figures = [], states = [], now = null } = found.spans ?? {};
  return { ...found, figures, states, now, usd: now?.usd ?? null };
}

type Source = ReturnType<typeof sourceOf>;

const DAY = { oneHour: 'The last hour', oneDay: 'The last 24 hours' };
const WEEK = { ...DAY, oneWeek: 'The last 7 days' };

const tokenView = view('FoundToken', sourceOf, {
  tokenAddress: address('Token contract', ({ token }) => token.address),
  chainId: quantity({ pattern: '^0x[0-9a-f]+$', description: 'Hexadecimal chain id' }, ({ chain }) => chain.id),
  name: text.orNull('Name of the token', ({ token }) => token.name),
  symbol: text.orNull('Symbol of the token', ({ token }) => token.symbol),
  blockNumber: number.orNull(
    'Block in which the contract was created. null until it is found',
    ({ token }) => token.createdBlock,
  ),
  blockTimestamp: number.orNull('Time of that block in Unix seconds', ({ token }) => token.createdAt),
  usdPrice: figure.orNull('US dollars per whole token, as in getTokenPrice', ({ usd }) => usd),
  marketCap: nothing('Always null: the circulating supply is not on chain', () => null),
  fullyDilutedValuation: figure.orNull(
    'Price times the last stored total supply in US dollars',
    ({ usd, token }) => dilutedValuation(usd, supplyOf(token)),
  ),
  totalHolders: number.orNull('Number of holders if it was counted within 5 minutes', ({ holders }) => holders),
  totalLiquidityUsd: figure.orNull(
    'US dollars in both sides of all pools that are deep enough',
    ({ now }) => now?.liquidity ?? null,
  ),
  experiencedNetBuyers: overWindows(
    'TokenSearchNetBuyers',
    'Number of distinct buyers minus that of distinct sellers',
    WEEK,
    ({ figures }: Source, at) => netBuyers(figures[at] ?? null),
  ),
  netVolumeUsd: overWindows(
    'TokenSearchNetVolume',
    'US dollars of purchases minus those of sales',
    DAY,
    ({ figures }: Source, at) => netVolume(figures[at] ?? null),
  ),
  liquidityChangeUSD: overWindows(
    'TokenSearchLiquidityChange',
    'Change of totalLiquidityUsd',
    DAY,
    ({ now, states }: Source, at) => difference(now?.liquidity, states[at]?.liquidity),
  ),
  usdPricePercentChange: overWindows(
    'TokenSearchPriceChange',
    'Percent from the price at the start',
    DAY,
    ({ usd, states }: Source, at) => percentOf(states[at]?.usd ?? null, usd),
  ),
  volumeUsd: overWindows('TokenSearchVolume', 'US dollars of all trades', DAY, ({ figures }: Source, at) => {
    const sums = figures[at] ?? null;
    return sums && volumeOf(sums);
  }),
  securityScore: nothing('Always null: not available', () => null),
  logo: text.orNull('Logo from an imported token list', ({ token }) => token.logo),
  isVerifiedContract: flag('Whether an imported list verifies the token', ({ token }) => token.verified),
  implementations: each(itself)('The token itself: its contracts on other chains are not linked', (found) => [
    found,
  ]),
});

/** docs/api/token-search-and-analytics.md#search. @param total number of matches */
export const foundTokens = view(
  'TokenSearch',
  (total: number, result: readonly FoundToken[]) => ({ total, result }),
  {
    total: count('Number of matches, at most 1,000'),
    result: each(tokenView)('The first of them'),
  },
);

function netBuyers(sums: TradeSums | null): number | null {
  if (sums === null || sums.buyers === null || sums.sellers === null) return null;
  return sums.buyers - sums.sellers;
}

function netVolume(sums: TradeSums | null): number | null {
  if (sums === null || sums.buyVolume === null || sums.sellVolume === null) return null;
  return signed({ numerator: sums.buyVolume - sums.sellVolume, denominator: DOLLAR });
}

function difference(now: Fraction | undefined, before: Fraction | undefined): number | null {
  if (now === undefined || before === undefined) return null;
  return signed({
    numerator: now.numerator * before.denominator - before.numerator * now.denominator,
    denominator: now.denominator * before.denominator,
  });
}

function signed({ numerator, denominator }: Fraction): number {
  return numerator < 0n
    ? -nearestNumber({ numerator: -numerator, denominator })
    : nearestNumber({ numerator, denominator });
}
