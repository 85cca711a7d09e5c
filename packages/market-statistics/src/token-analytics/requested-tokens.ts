import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type ApiDependencies, indexedChain } from '@chainstead/http';
import { EVERY_SWAP } from '@chainstead/markets';
import { STATES_DATASET } from '@chainstead/prices';
import { z } from '@hono/zod-openapi';

/** Tokens in one request body. */
export const TOKENS_MAX = 200;

const DEFAULT_CHAIN = 'eth';

/** The body of a request for several tokens. */
export function tokensBody({ parameters }: Pick<ApiDependencies, 'parameters'>) {
  const item = z.object({
    chain: parameters.chain,
    tokenAddress: parameters.address.openapi({ description: 'Token contract.' }),
  });
  const schema = z.object({
    tokens: z
      .array(item)
      .min(1)
      .max(TOKENS_MAX)
      .openapi({ description: `Up to ${TOKENS_MAX} tokens of any chains.` }),
  });
  return { required: true, content: { 'application/json': { schema } } };
}

/** A token of a request. */
export interface RequestedToken {
  readonly chain: Chain;
  readonly token: Address;
}

/** Tokens of a request body with their chains. @throws {NotIndexedError} if one of the chains is not indexed */
export function requestedTokens(
  { chains }: Pick<ApiDependencies, 'chains'>,
  tokens: readonly { readonly chain?: Chain | undefined; readonly tokenAddress: Address }[],
): readonly RequestedToken[] {
  return tokens.map(({ chain, tokenAddress: token }) => ({ chain: marketChain({ chains }, chain), token }));
}

/** The chain of a request if its swaps and pools are indexed. @throws {NotIndexedError} */
export function marketChain({ chains }: Pick<ApiDependencies, 'chains'>, chain: Chain | undefined): Chain {
  return indexedChain(chains, chain?.key ?? DEFAULT_CHAIN, STATES_DATASET, EVERY_SWAP);
}

/** Reads something of each chain's tokens together, and returns it in the order of the request. Tokens without it are left out. */
export async function readByChain<Found>(
  requested: readonly RequestedToken[],
  read: (chain: Chain, tokens: readonly Address[]) => Promise<ReadonlyMap<Address, Found>>,
): Promise<readonly (RequestedToken & { readonly found: Found })[]> {
  const found = new Map<Chain, ReadonlyMap<Address, Found>>();
  for (const [chain, ofChain] of Map.groupBy(requested, ({ chain }) => chain))
    found.set(chain, await read(chain, [...new Set(ofChain.map(({ token }) => token))]));
  return requested.flatMap(({ chain, token }) => {
    const one = found.get(chain)?.get(token);
    return one === undefined ? [] : [{ chain, token, found: one }];
  });
}
