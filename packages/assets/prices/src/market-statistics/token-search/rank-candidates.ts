import type { Chain } from '@chainstead/chains';
import { type Address, compareFractions, type Fraction } from '@chainstead/core';
import { readTradedPools } from '../../token-markets/traded-pools.ts';
import type { PriceSources } from '../../token-price/read/prices-with-balances.ts';
import {
  dilutedValuation,
  readTokenSpans,
  type TokenSpans,
  type TokenSupply,
  volumeOf,
  type WantedTimes,
} from '../token-analytics/read-token-spans.ts';
import { windowsUntil } from '../token-analytics/requested-tokens.ts';
import type { Candidate } from './search-statement.ts';

export const SORTS = ['volume1hDesc', 'volume24hDesc', 'liquidityDesc', 'marketCapDesc'] as const;
type Sort = (typeof SORTS)[number];

const COMPARED_MAX = 100;

interface Ranking {
  readonly chains: readonly Chain[];
  readonly sortBy: Sort;
  /** Tokens of imported lists come before others. */
  readonly boostsVerified: boolean;
  readonly limit: number;
}

/** Exact matches, then imported lists, then figures of candidates with the most proven pools. */
export async function rankCandidates(
  sources: PriceSources,
  candidates: readonly Candidate[],
  { chains, sortBy, boostsVerified, limit }: Ranking,
): Promise<readonly Candidate[]> {
  const tier = ({ isExact, verified }: Candidate): number =>
    (isExact ? 0 : 2) + (boostsVerified && !verified ? 1 : 0);
  const pools = await readByCandidate(candidates, chains, async (chain, tokens) => {
    const ofTokens = new Map(tokens.map((token) => [token, { depths: new Map() }]));
    const found = await readTradedPools(sources.reads, chain, ofTokens);
    return new Map([...found].map(([token, own]) => [token, own.length]));
  });
  const poolsOf = (token: Candidate): number => pools.get(token) ?? 0;
  const byPools = candidates.toSorted(
    (left, right) =>
      tier(left) - tier(right) ||
      poolsOf(right) - poolsOf(left) ||
      Number(left.possibleSpam) - Number(right.possibleSpam) ||
      byAddress(left, right),
  );
  const compared = byPools.filter((token) => poolsOf(token) > 0).slice(0, COMPARED_MAX);
  const spans = await readByCandidate(compared, chains, async (chain, tokens) => {
    const options = { countsTraders: false, mayMiss: true };
    const { tokens: found } = await readTokenSpans(
      sources,
      chain,
      tokens,
      (newest) => TIMES[sortBy](newest),
      options,
    );
    return found;
  });
  const figures = new Map([...spans].map(([token, found]) => [token, FIGURES[sortBy](found, token)]));
  const figureOf = (token: Candidate) => figures.get(token) ?? null;
  return byPools
    .toSorted((left, right) => tier(left) - tier(right) || byFigure(figureOf(left), figureOf(right)))
    .slice(0, limit);
}

export async function readByCandidate<Found>(
  candidates: readonly Candidate[],
  chains: readonly Chain[],
  read: (chain: Chain, tokens: readonly Address[]) => Promise<ReadonlyMap<Address, Found>>,
): Promise<ReadonlyMap<Candidate, Found>> {
  const all = new Map<Candidate, Found>();
  for (const chain of chains) {
    const ofChain = candidates.filter(({ chainId }) => chainId === chain.id);
    if (ofChain.length === 0) continue;
    const addresses = ofChain.map(({ address }) => address);
    const found = await read(chain, addresses);
    for (const token of ofChain) {
      const value = found.get(token.address);
      if (value !== undefined) all.set(token, value);
    }
  }
  return all;
}

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

const FIGURES: Readonly<Record<Sort, (spans: TokenSpans, token: Candidate) => Fraction | null>> = {
  volume1hDesc: volume,
  volume24hDesc: volume,
  liquidityDesc: ({ now }) => now.liquidity,
  marketCapDesc: ({ now }, token) => dilutedValuation(now.usd, supplyOf(token)),
};

function byFigure(left: Fraction | null, right: Fraction | null): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  return compareFractions(right, left);
}

function byAddress(left: Candidate, right: Candidate): number {
  if (left.address === right.address) return left.chainId - right.chainId;
  return left.address < right.address ? -1 : 1;
}
