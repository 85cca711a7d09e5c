import type { Chain } from '@chainstead/chains';
import { type Address, compareFractions, type Fraction } from '@chainstead/core';
import { type PriceSources, readTradedPools } from '@chainstead/prices';
import { readTokenSpans, type TokenSpans, type WantedTimes } from '../token-analytics/read-token-spans.ts';
import { windowsUntil } from '../token-analytics/times.ts';
import { dilutedValuation, type TokenSupply, volumeOf } from '../token-analytics/token-figures.ts';
import type { Candidate } from './search-statement.ts';

export const SORTS = ['volume1hDesc', 'volume24hDesc', 'liquidityDesc', 'marketCapDesc'] as const;

type Sort = (typeof SORTS)[number];

/** Candidates whose figures are computed for the order. */
const COMPARED_MAX = 100;

interface Ranking {
  readonly chains: readonly Chain[];
  readonly sortBy: Sort;
  /** Whether tokens of imported lists come before others. */
  readonly boostsVerified: boolean;
  readonly limit: number;
}

/**
 * Returns the first candidates: exact matches, then tokens of imported lists, then by the figure of the order. The figures of
 * {@link COMPARED_MAX} candidates are computed, those with the most proven pools; tokens without a figure come last.
 */
export async function rankCandidates(
  sources: PriceSources,
  candidates: readonly Candidate[],
  { chains, sortBy, boostsVerified, limit }: Ranking,
): Promise<readonly Candidate[]> {
  const tier = ({ isExact, isVerified }: Candidate): number =>
    (isExact ? 0 : 2) + (boostsVerified && !isVerified ? 1 : 0);
  const pools = await readByCandidate(candidates, chains, async (chain, tokens) => {
    const ofTokens = new Map(tokens.map((token) => [token, { depths: new Map() }]));
    const found = await readTradedPools(sources.reads, chain, ofTokens);
    return new Map([...found].map(([token, own]) => [token, own.length]));
  });
  const poolsOf = (one: Candidate): number => pools.get(one) ?? 0;
  const byPools = candidates.toSorted(
    (one, other) =>
      tier(one) - tier(other) ||
      poolsOf(other) - poolsOf(one) ||
      Number(one.isSpam) - Number(other.isSpam) ||
      byAddress(one, other),
  );
  const compared = byPools.filter((one) => poolsOf(one) > 0).slice(0, COMPARED_MAX);
  const spans = await readByCandidate(compared, chains, async (chain, tokens) => {
    const options = { countsTraders: false, mayMiss: true };
    const { tokens: found } = await readTokenSpans(sources, chain, tokens, (newest) => TIMES[sortBy](newest), options);
    return found;
  });
  const figures = new Map([...spans].map(([one, found]) => [one, FIGURES[sortBy](found, one)]));
  return byPools
    .map((one, position) => ({ one, position, figure: figures.get(one) ?? null }))
    .toSorted(
      (left, right) =>
        tier(left.one) - tier(right.one) || byFigure(left.figure, right.figure) || left.position - right.position,
    )
    .slice(0, limit)
    .map(({ one }) => one);
}

/** Reads something of each chain's candidates together. Candidates without it are missing. */
export async function readByCandidate<Found>(
  candidates: readonly Candidate[],
  chains: readonly Chain[],
  read: (chain: Chain, tokens: readonly Address[]) => Promise<ReadonlyMap<Address, Found>>,
): Promise<ReadonlyMap<Candidate, Found>> {
  const all = new Map<Candidate, Found>();
  for (const chain of chains) {
    const ofChain = candidates.filter(({ chainId }) => chainId === chain.id);
    if (ofChain.length === 0) continue;
    const found = await read(
      chain,
      ofChain.map(({ address }) => address),
    );
    for (const one of ofChain) {
      const value = found.get(one.address);
      if (value !== undefined) all.set(one, value);
    }
  }
  return all;
}

/** The stored supply of a candidate. */
export function supplyOf({ totalSupply, decimals }: Candidate): TokenSupply | undefined {
  return totalSupply === null || decimals === null ? undefined : { units: BigInt(totalSupply), decimals };
}

const NO_TIMES: WantedTimes = { spans: [], moments: [] };
const spanOf = (seconds: number) => (newest: number) => ({ ...windowsUntil(newest, [seconds]), moments: [] });

const TIMES: Readonly<Record<Sort, (newest: number) => WantedTimes>> = {
  volume1hDesc: spanOf(3_600),
  volume24hDesc: spanOf(86_400),
  liquidityDesc: () => NO_TIMES,
  marketCapDesc: () => NO_TIMES,
};

function volume({ figures: [figures] }: TokenSpans): Fraction | null {
  return figures === undefined || figures === null ? null : volumeOf(figures);
}

const FIGURES: Readonly<Record<Sort, (spans: TokenSpans, one: Candidate) => Fraction | null>> = {
  volume1hDesc: volume,
  volume24hDesc: volume,
  liquidityDesc: ({ now }) => now.liquidity,
  // The circulating supply is not on chain.
  marketCapDesc: ({ now }, one) => dilutedValuation(now.usd, supplyOf(one)),
};

/** The largest first, unknown ones last. */
function byFigure(one: Fraction | null, other: Fraction | null): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return compareFractions(other, one);
}

function byAddress(one: Candidate, other: Candidate): number {
  if (one.address === other.address) return one.chainId - other.chainId;
  return one.address < other.address ? -1 : 1;
}
