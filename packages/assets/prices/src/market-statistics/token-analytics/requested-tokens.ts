import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { getTokenFacts } from '@chainstead/erc20/requests';
import { type ApiDependencies, indexedChain } from '@chainstead/http';
import { EVERY_SWAP } from '@chainstead/markets/requests';
import { z } from '@hono/zod-openapi';
import { STATES_DATASET } from '../../token-price/place/price-place.ts';
import type { PriceSources } from '../../token-price/read/prices-with-balances.ts';
import type { TokenSupply, WantedTimes } from './read-token-spans.ts';

export const TOKENS_MAX = 200;
export const MARKET_DATASETS = [STATES_DATASET, EVERY_SWAP];

export function tokensBody(parameters: ApiDependencies['parameters']) {
  const item = z.object({
    chain: parameters.chain,
    tokenAddress: parameters.address.openapi({ description: 'Token contract.' }),
  });
  return z.object({
    tokens: z
      .array(item)
      .min(1)
      .max(TOKENS_MAX)
      .openapi({ description: `Up to ${TOKENS_MAX} tokens of any chains.` }),
  });
}

export interface RequestedToken {
  readonly chain: Chain;
  readonly token: Address;
}

/** @throws {NotIndexedError} if one of the chains is not indexed */
export function requestedTokens(
  { chains }: Pick<ApiDependencies, 'chains'>,
  tokens: readonly { readonly chain?: Chain | undefined; readonly tokenAddress: Address }[],
): readonly RequestedToken[] {
  return tokens.map(({ chain, tokenAddress: token }) => ({
    chain: indexedChain(chains, chain?.key ?? 'eth', ...MARKET_DATASETS),
    token,
  }));
}

export async function readByChain<Found>(
  requested: readonly RequestedToken[],
  read: (chain: Chain, tokens: readonly Address[]) => Promise<ReadonlyMap<Address, Found>>,
): Promise<readonly (RequestedToken & { readonly found: Found })[]> {
  const found = new Map<Chain, ReadonlyMap<Address, Found>>();
  for (const [chain, ofChain] of Map.groupBy(requested, ({ chain }) => chain))
    found.set(chain, await read(chain, [...new Set(ofChain.map(({ token }) => token))]));
  return requested.flatMap(({ chain, token }) => {
    const result = found.get(chain)?.get(token);
    return result === undefined ? [] : [{ chain, token, found: result }];
  });
}

export type SupplySources = Pick<PriceSources, 'contracts'> & Pick<ApiDependencies, 'database' | 'logger'>;

export async function readSupplies(
  { contracts, database, logger }: SupplySources,
  chain: Chain,
  tokens: readonly Address[],
): Promise<ReadonlyMap<Address, TokenSupply>> {
  if (contracts === null || tokens.length === 0) return new Map();
  const { nodeReads } = contracts.balances;
  const facts = await getTokenFacts({ database, logger, nodeReads }, chain, tokens);
  return new Map(
    facts.tokens.flatMap(({ address, totalSupply, decimals }) =>
      totalSupply === null || decimals === null
        ? []
        : [[address, { units: BigInt(totalSupply), decimals }] as const],
    ),
  );
}

export const WINDOWS = { '5m': 300, '1h': 3_600, '6h': 21_600, '24h': 86_400 } as const;

/** Seconds. The newest block belongs to each window. */
export function windowsUntil(newest: number, lengths: readonly number[]): WantedTimes {
  return {
    spans: lengths.map((seconds) => ({ from: newest - seconds + 1, to: newest + 1 })),
    moments: lengths.map((seconds) => newest - seconds),
  };
}

export const TIMEFRAMES = ['1d', '7d', '30d'] as const;
type SeriesTimeframe = (typeof TIMEFRAMES)[number];

const STEPS: Readonly<Record<SeriesTimeframe, { readonly count: number; readonly seconds: number }>> = {
  '1d': { count: 24, seconds: 3_600 },
  '7d': { count: 28, seconds: 21_600 },
  '30d': { count: 30, seconds: 86_400 },
};

/** Unix seconds. Oldest first, aligned to UTC. The last step contains the newest block. */
export function stepsUntil(newest: number, timeframe: SeriesTimeframe): WantedTimes {
  const { count, seconds } = STEPS[timeframe];
  const last = Math.floor(newest / seconds) * seconds;
  const spans = Array.from({ length: count }, (_, at) => {
    const from = last - (count - 1 - at) * seconds;
    return { from, to: from + seconds };
  });
  // Block times are whole seconds, and the end of a span is exclusive.
  return { spans, moments: spans.map(({ to }) => to - 1) };
}
