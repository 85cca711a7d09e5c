import type { Chain } from '@chainstead/chains';
import { type Address, type Hex, isAddress, parseAddress } from '@chainstead/core';
import { hexBytes, hexText, type ReadDatabase, sql } from '@chainstead/db';
import { type BalanceRequestSources, readCountedHolders } from '@chainstead/erc20/requests';
import {
  type ApiDependencies,
  booleanParameter,
  chainsParameter,
  indexedChainsOf,
  limitParameter,
  routesFor,
  textParameter,
} from '@chainstead/http';
import { EVERY_SWAP, pairOf, poolKey, shownToken } from '@chainstead/markets/requests';
import { areTablesSpread } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { STATES_DATASET } from '../../token-price/place/price-place.ts';
import { priceSourcesOf } from '../../token-price/read/prices-with-balances.ts';
import { readTokenSpans } from '../token-analytics/read-token-spans.ts';
import { windowsUntil } from '../token-analytics/requested-tokens.ts';
import { rankCandidates, readByCandidate, SORTS } from './rank-candidates.ts';
import { foundTokens, SEARCH_WINDOWS } from './search-response.ts';
import {
  addressesStatement,
  addressOf,
  type Candidate,
  type CandidatesQuery,
  textStatement,
} from './search-statement.ts';

export interface TokenSearchOptions extends BalanceRequestSources {
  readonly served: readonly Chain[];
}

const LIMIT_DEFAULT = 10;
const LIMIT_MAX = 100;
const QUERY_LENGTH_MAX = 128;

/** docs/api/token-search-and-analytics.md#search */
export const tokenSearchRoute = routesFor<TokenSearchOptions>().defineRoute({
  path: '/api/v2.2/tokens/search',
  operationId: 'searchTokens',
  tag: 'Tokens',
  summary: 'Search tokens',
  description:
    'Tokens by part of their name or symbol, or by address of the token or a pool. Exact matches come first, then tokens of imported lists, then the order of sortBy. Up to 1,000 matches are ranked.',
  query: [
    {
      query: textParameter(`a text of 1 to ${QUERY_LENGTH_MAX} characters`, parseQuery).openapi({
        type: 'string',
        description:
          'Name, symbol or address, in any letter case. One or two characters match the beginning only.',
        example: 'USDC',
      }),
      limit: limitParameter(LIMIT_DEFAULT, LIMIT_MAX).openapi({
        maximum: LIMIT_MAX,
        description: `Number of tokens. Higher values are lowered to ${LIMIT_MAX}.`,
      }),
      isVerifiedContract: booleanParameter({ default: false, description: 'Only tokens of imported lists.' }),
      sortBy: z
        .enum(SORTS)
        .optional()
        .openapi({ default: 'volume1hDesc', description: 'marketCapDesc is by fullyDilutedValuation.' }),
      boostVerifiedContracts: booleanParameter({
        default: true,
        description: 'Tokens of imported lists come before others.',
      }),
      chains: chainsParameter('Chains to search. Default: all indexed chains.'),
    },
  ],
  response: { description: 'The found tokens', schema: foundTokens.schema },
  async answer({
    query,
    chains: names,
    limit = LIMIT_DEFAULT,
    sortBy = 'volume1hDesc',
    services,
    api,
    ...request
  }) {
    const {
      reads,
      isVerifiedContract: verifiedOnly = false,
      boostVerifiedContracts: boostsVerified = true,
    } = request;
    const wanted = names ?? searchedChains(services.served, api.chains).map(({ key }) => key);
    const chains = indexedChainsOf(api.chains, wanted, STATES_DATASET, EVERY_SWAP);
    const candidates = await readCandidates(reads, { chains, query, verifiedOnly });
    const sources = priceSourcesOf(request, services);
    const ranked = await rankCandidates(sources, candidates, { chains, sortBy, boostsVerified, limit });
    const spans = await readByCandidate(ranked, chains, async (chain, tokens) => {
      const found = await readTokenSpans(sources, chain, tokens, searchTimes, { mayMiss: true });
      return found.tokens;
    });
    const holders = await readByCandidate(ranked, chains, (chain, tokens) =>
      readCountedHolders(reads, chain, tokens),
    );
    const found = ranked.flatMap((token) => {
      const chain = chains.find(({ id }) => id === token.chainId);
      return chain === undefined
        ? []
        : [{ token, chain, spans: spans.get(token), holders: holders.get(token) ?? null }];
    });
    return foundTokens.show(candidates.length, found);
  },
});

function searchedChains(served: readonly Chain[], chains: ApiDependencies['chains']): readonly Chain[] {
  const sorted = served.toSorted((left, right) => left.id - right.id);
  const searched = sorted.filter((chain) => chains.keepsEveryBlock(EVERY_SWAP, chain));
  return searched.length === 0 ? sorted : searched;
}

function searchTimes(newest: number) {
  const { oneHour, oneDay, oneWeek } = SEARCH_WINDOWS;
  const { spans } = windowsUntil(newest, [oneHour, oneDay, oneWeek]);
  return { spans, moments: windowsUntil(newest, [oneHour, oneDay]).moments };
}

function parseQuery(text: string): string | undefined {
  const query = text.trim();
  const { length } = [...query];
  return length >= 1 && length <= QUERY_LENGTH_MAX ? query : undefined;
}

async function readCandidates(database: ReadDatabase, query: CandidatesQuery): Promise<readonly Candidate[]> {
  const address = addressOf(query.query);
  const statement =
    address === null
      ? textStatement(query, await areTablesSpread(database))
      : addressesStatement(await tokensOfAddress(database, query.chains, address), query.verifiedOnly);
  return database.select<Candidate>(statement);
}

type TokenOnChain = { readonly chain: Chain; readonly address: Address };

async function tokensOfAddress(database: ReadDatabase, chains: readonly Chain[], address: Hex) {
  const pools = await database.select<{ chainId: number; token0: Address | null; token1: Address | null }>(
    sql`SELECT chain_id, ${hexText('token0')} AS token0, ${hexText('token1')} AS token1 FROM pools
     WHERE pool_key = ${poolKey(address)}::bigint AND chain_id = ANY (${chains.map(({ id }) => id)}::bigint[]) AND pool = ${hexBytes(address)}::bytea AND status = 'proven' AND is_counted`,
  );
  const ofPools = pools.flatMap(({ chainId, token0, token1 }): readonly TokenOnChain[] => {
    const chain = chains.find(({ id }) => id === chainId);
    if (chain === undefined || token0 === null || token1 === null) return [];
    const { base } = pairOf(token0, token1, chain);
    return [{ chain, address: shownToken(base, chain) }];
  });
  const own = isAddress(address) ? chains.map((chain) => ({ chain, address: parseAddress(address) })) : [];
  return [
    ...new Map([...own, ...ofPools].map((token) => [`${token.chain.id} ${token.address}`, token])).values(),
  ];
}
