import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type ApiDependencies, indexedChain } from '@chainstead/http';
import { EVERY_SWAP } from '@chainstead/markets/requests';
import { z } from '@hono/zod-openapi';
import { STATES_DATASET } from '../../token-price/place/price-place.ts';

export const TOKENS_MAX = 200;
export const MARKET_DATASETS = [STATES_DATASET, EVERY_SWAP];

export function tokensBody({ parameters }: Pick<ApiDependencies, 'parameters'>) {
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
