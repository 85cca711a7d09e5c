import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import {
  type ApiDependencies,
  defineRoute,
  NotFoundError,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { shownToken } from '../anchors/anchors-of-chain.ts';
import { getPairOfTokens, getReserves, type PairOfTokens, STATES_DATASET } from './get-pair-state.ts';
import { factoriesOf, PAIR_NOT_FOUND, pairNotFound, pairParameter, unknownExchange } from './pair-parameter.ts';

const text = (description: string) => z.string().nullable().openapi({ description });
const digits = (description: string) => z.string().openapi({ pattern: '^[0-9]+$', description });

const reservesSchema = z
  .object({
    reserve0: digits('Reserve of token 0 in base units'),
    reserve1: digits('Reserve of token 1 in base units'),
  })
  .openapi('PairReserves');

const tokenSchema = z
  .object({
    address: z.string().openapi({
      pattern: '^0x[0-9a-f]{40}$',
      description: 'Token contract. The wrapped native token stands for the native token',
    }),
    name: text('Name of the token'),
    symbol: text('Symbol of the token'),
    decimals: digits('Decimals of the token').nullable(),
    logo: text('Logo from an imported token list'),
    logo_hash: z.null().openapi({ description: 'Always null: not available' }),
    thumbnail: text('Same as logo'),
    block_number: digits('Block in which the contract was created. null until it is found').nullable(),
    validated: z.int().min(0).max(1).openapi({ description: '1 if the contract returns token metadata' }),
    created_at: text('Time of the creation block. null until it is found'),
  })
  .openapi('PairAddressToken', { description: 'A token of the pair. Token 0 has the lower address' });

const pairAddressSchema = z
  .object({
    token0: tokenSchema,
    token1: tokenSchema,
    pairAddress: z.string().openapi({ description: 'Address of the pool, or its 32-byte id at a pool manager' }),
    exchange: text('Name of the exchange'),
    exchangeAddress: text('Factory, vault or pool manager of the exchange'),
    exchangeLogo: text('Always null: not available'),
  })
  .openapi('PairAddress');

/** docs/api/swaps.md#reserves-of-a-pair */
export const pairReservesRoute: RouteModule = (app, dependencies) => {
  const { chains, parameters, reads } = dependencies;
  defineRoute(app, dependencies, {
    path: '/api/v2.2/{pair_address}/reserves',
    operationId: 'getPairReserves',
    tags: ['Tokens'],
    summary: 'Get reserves of a pair',
    description:
      'Last reserves of a pool at or before a block, from its `Sync` events. Returns 404 for a pool without proof, without reserves (such as Uniswap v3), or without an indexed event until that block.',
    params: { pair_address: pairParameter() },
    query: stateQuery(parameters),
    datasets: [STATES_DATASET],
    response: { description: 'Reserves of the pair', schema: reservesSchema },
    errors: [404],
    async answer({ pair_address: pool, chain, ...query }) {
      const { isKnown, reserves } = await getReserves(reads, chain, pool, stateBlockOf(query));
      if (!isKnown) throw pairNotFound(chains, chain);
      if (reserves === null)
        throw new NotFoundError(
          `${PAIR_NOT_FOUND}: no reserves of it are indexed at or before the requested block`,
        );
      return { reserve0: reserves[0], reserve1: reserves[1] };
    },
  });
};

/** docs/api/swaps.md#address-of-a-pair */
export const pairAddressRoute: RouteModule = (app, dependencies) => {
  const { chains, parameters, reads } = dependencies;
  defineRoute(app, dependencies, {
    path: '/api/v2.2/{token0_address}/{token1_address}/pairAddress',
    operationId: 'getPairAddress',
    tags: ['Tokens'],
    summary: 'Get the pair of two tokens',
    description:
      'Proven pool of two tokens on an exchange; of several, the one with the most liquidity. Returns 404 if no pool is known: it may exist without an indexed swap or creation.',
    params: {
      token0_address: parameters.address.openapi({
        description: 'Address of one token. The order does not matter.',
      }),
      token1_address: parameters.address.openapi({ description: 'Address of the other token.' }),
    },
    query: {
      ...stateQuery(parameters),
      exchange: textParameter('the name of an exchange or the address of its factory', (given) =>
        given === '' ? undefined : given,
      ).openapi({
        type: 'string',
        description: 'Name of an exchange (uniswapv2, Sushiswap v2, …) or address of its factory.',
        example: 'uniswapv2',
      }),
    },
    datasets: [STATES_DATASET],
    response: { description: 'A pair and its tokens', schema: pairAddressSchema },
    errors: [404],
    async answer({ token0_address: left, token1_address: right, chain, ...query }) {
      const factories = factoriesOf(query.exchange, chain);
      if (factories.length === 0) throw unknownExchange(chain, query.exchange);
      const pair = await getPairOfTokens(reads, chain, [left, right], factories, stateBlockOf(query));
      if (pair === null) throw pairNotFound(chains, chain);
      const shown = [pair.token0, pair.token1].map((token) => showToken(token, pair, chain));
      const [token0, token1] = shown.toSorted((lower, higher) => (lower.address < higher.address ? -1 : 1));
      if (token0 === undefined || token1 === undefined) throw new NotFoundError(PAIR_NOT_FOUND);
      const { pool, exchange, factory } = pair;
      return { token0, token1, pairAddress: pool, exchange, exchangeAddress: factory, exchangeLogo: null };
    },
  });
};

function stateQuery(parameters: ApiDependencies['parameters']) {
  return {
    chain: parameters.chain,
    to_block: parameters.toBlock.openapi({
      type: 'string',
      pattern: '^[0-9]+$',
      description: 'Block of the state, inclusive. Takes precedence over to_date. Default: the newest.',
    }),
    to_date: parameters.toDate,
  };
}

function stateBlockOf(query: { readonly to_block?: number | undefined; readonly to_date?: Date | undefined }) {
  return {
    toBlock: query.to_block ?? null,
    toDate: query.to_block === undefined ? (query.to_date ?? null) : null,
  };
}

function showToken(address: Address, { tokens }: PairOfTokens, chain: Chain): z.infer<typeof tokenSchema> {
  const record = tokens.find((token) => token.address === address);
  const { name, symbol, decimals } = address === ZERO_ADDRESS ? chain.native : (record ?? UNKNOWN);
  return {
    address: shownToken(address, chain),
    ...{ name, symbol, decimals: decimals === null ? null : String(decimals) },
    logo: record?.logo ?? null,
    logo_hash: null,
    thumbnail: record?.logo ?? null,
    block_number: record?.createdBlock?.toString() ?? null,
    validated: symbol === null ? 0 : 1,
    created_at: record?.createdAt?.toISOString() ?? null,
  };
}

const UNKNOWN = { name: null, symbol: null, decimals: null };
