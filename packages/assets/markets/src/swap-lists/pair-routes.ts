import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import {
  addressParameter,
  blockParameter,
  inside,
  NotFoundError,
  routesFor,
  textParameter,
  view,
  wire,
} from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { shownToken } from '../anchors/anchors-of-chain.ts';
import {
  getPairOfTokens,
  getReserves,
  type PairOfTokens,
  STATES_DATASET,
  type TokenRecord,
} from './get-pair-state.ts';
import { factoriesOf, PAIR_NOT_FOUND, pairNotFound, pairParameter, unknownExchange } from './pair-parameter.ts';

const { address, nothing, text } = wire;
const digits = wire.wire(z.string().openapi({ pattern: '^[0-9]+$' }), (value: string | number) => String(value));
const time = wire.wire(z.string(), (date: Date) => date.toISOString());

const reservesView = view('PairReserves', (reserves: readonly [string, string]) => reserves, {
  reserve0: digits('Reserve of token 0 in base units', ([reserve]) => reserve),
  reserve1: digits('Reserve of token 1 in base units', ([, reserve]) => reserve),
});

interface TokenOfPair {
  /** The wrapped native token stands for the native token. */
  readonly shown: Address;
  readonly record: TokenRecord | null;
  readonly facts: Pick<TokenRecord, 'name' | 'symbol' | 'decimals'> | null;
}

const tokenView = view(
  { name: 'PairAddressToken', description: 'A token of the pair. Token 0 has the lower address' },
  (token: TokenOfPair) => token,
  {
    address: address(
      'Token contract. The wrapped native token stands for the native token',
      ({ shown }) => shown,
    ),
    name: text.orNull('Name of the token', ({ facts }) => facts?.name ?? null),
    symbol: text.orNull('Symbol of the token', ({ facts }) => facts?.symbol ?? null),
    decimals: digits.orNull('Decimals of the token', ({ facts }) => facts?.decimals ?? null),
    logo: text.orNull('Logo from an imported token list', ({ record }) => record?.logo ?? null),
    logo_hash: nothing('Always null: not available', () => null),
    thumbnail: text.orNull('Same as logo', ({ record }) => record?.logo ?? null),
    block_number: digits.orNull(
      'Block in which the contract was created. null until it is found',
      ({ record }) => record?.createdBlock ?? null,
    ),
    validated: wire.wire(z.int().min(0).max(1))('1 if the contract returns token metadata', ({ facts }) =>
      (facts?.symbol ?? null) === null ? 0 : 1,
    ),
    created_at: time.orNull(
      'Time of the creation block. null until it is found',
      ({ record }) => record?.createdAt ?? null,
    ),
  },
);

interface FoundPair {
  readonly pair: PairOfTokens;
  readonly token0: TokenOfPair;
  readonly token1: TokenOfPair;
}

const pairView = view('PairAddress', (found: FoundPair) => found, {
  token0: inside(tokenView)(({ token0 }) => token0),
  token1: inside(tokenView)(({ token1 }) => token1),
  pairAddress: text('Address of the pool, or its 32-byte id at a pool manager', ({ pair }) => pair.pool),
  exchange: text.orNull('Name of the exchange', ({ pair }) => pair.exchange),
  exchangeAddress: text.orNull('Factory, vault or pool manager of the exchange', ({ pair }) => pair.factory),
  exchangeLogo: text.orNull('Always null: not available', () => null),
});

const { defineRoute } = routesFor<unknown>();

const STATE_QUERY = {
  to_block: blockParameter(
    'Block of the state, inclusive. Takes precedence over to_date. Default: the newest.',
  ).openapi({ type: 'string', pattern: '^[0-9]+$' }),
  to_date: 'toDate',
} as const;

/** docs/api/swaps.md#reserves-of-a-pair */
export const pairReservesRoute = defineRoute({
  path: '/api/v2.2/{pair_address}/reserves',
  operationId: 'getPairReserves',
  tag: 'Tokens',
  summary: 'Get reserves of a pair',
  description:
    'Last reserves of a pool at or before a block, from its `Sync` events. Returns 404 for a pool without proof, without reserves (such as Uniswap v3), or without an indexed event until that block.',
  params: [{ pair_address: pairParameter() }],
  query: ['chain', STATE_QUERY],
  datasets: [STATES_DATASET],
  response: { description: 'Reserves of the pair', schema: reservesView.schema },
  errors: [404],
  async answer({ pair_address: pool, chain, reads, api, ...query }) {
    const { isKnown, reserves } = await getReserves(reads, chain, pool, stateBlockOf(query));
    if (!isKnown) throw pairNotFound(api.chains, chain);
    if (reserves === null)
      throw new NotFoundError(
        `${PAIR_NOT_FOUND}: no reserves of it are indexed at or before the requested block`,
      );
    return reservesView.show(reserves);
  },
});

/** docs/api/swaps.md#address-of-a-pair */
export const pairAddressRoute = defineRoute({
  path: '/api/v2.2/{token0_address}/{token1_address}/pairAddress',
  operationId: 'getPairAddress',
  tag: 'Tokens',
  summary: 'Get the pair of two tokens',
  description:
    'Proven pool of two tokens on an exchange; of several, the one with the most liquidity. Returns 404 if no pool is known: it may exist without an indexed swap or creation.',
  params: [
    {
      token0_address: addressParameter().openapi({
        description: 'Address of one token. The order does not matter.',
      }),
      token1_address: addressParameter().openapi({ description: 'Address of the other token.' }),
    },
  ],
  query: [
    'chain',
    STATE_QUERY,
    {
      exchange: textParameter('the name of an exchange or the address of its factory', (given) =>
        given === '' ? undefined : given,
      ).openapi({
        type: 'string',
        description: 'Name of an exchange (uniswapv2, Sushiswap v2, …) or address of its factory.',
        example: 'uniswapv2',
      }),
    },
  ],
  datasets: [STATES_DATASET],
  response: { description: 'A pair and its tokens', schema: pairView.schema },
  errors: [404],
  async answer({ token0_address: left, token1_address: right, chain, exchange, reads, api, ...query }) {
    const factories = factoriesOf(exchange, chain);
    if (factories.length === 0) throw unknownExchange(chain, exchange);
    const pair = await getPairOfTokens(reads, chain, [left, right], factories, stateBlockOf(query));
    if (pair === null) throw pairNotFound(api.chains, chain);
    const tokens = [pair.token0, pair.token1].map((token) => tokenOf(token, pair, chain));
    const [token0, token1] = tokens.toSorted((lower, higher) => (lower.shown < higher.shown ? -1 : 1));
    if (token0 === undefined || token1 === undefined) throw new NotFoundError(PAIR_NOT_FOUND);
    return pairView.show({ pair, token0, token1 });
  },
});

function stateBlockOf(query: { readonly to_block?: number | undefined; readonly to_date?: Date | undefined }) {
  return {
    toBlock: query.to_block ?? null,
    toDate: query.to_block === undefined ? (query.to_date ?? null) : null,
  };
}

function tokenOf(token: Address, { tokens }: PairOfTokens, chain: Chain): TokenOfPair {
  const record = tokens.find(({ address: known }) => known === token) ?? null;
  const facts = token === ZERO_ADDRESS ? chain.native : record;
  return { shown: shownToken(token, chain), record, facts };
}
