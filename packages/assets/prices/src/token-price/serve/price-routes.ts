import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import type { BalanceRequestSources } from '@chainstead/erc20/requests';
import {
  addressParameter,
  blockParameter,
  booleanParameter,
  indexedChain,
  refuseBody,
  routesFor,
} from '@chainstead/http';
import { EVERY_SWAP } from '@chainstead/markets/requests';
import { indexedHeaders } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { defineRoute } from '../../routes.ts';
import { STATES_DATASET } from '../place/price-place.ts';
import { priceSourcesOf } from '../read/prices-with-balances.ts';
import { createPriceReader, finalParameter, priceLimits } from './price-reader.ts';
import { errorOf } from './price-refusals.ts';
import { type FoundPrice, type ShownTokenPrice, tokenPriceView } from './price-response.ts';

export interface ProvenPriceServices extends BalanceRequestSources {
  readonly provePrice: ProvePrice;
}

export type ProvePrice = (found: FoundPrice, chain: Chain, database: ReadDatabase) => Promise<ShownTokenPrice>;

const PRICE_QUERY = {
  include: z
    .enum(['percent_change'])
    .optional()
    .openapi({ description: 'Has no effect: changes are always returned.' }),
  final: finalParameter(),
  ...priceLimits({
    inactivity: 'Rejects a token whose pools have not moved for this number of days.',
    depth: 'US dollars that each side of a pool must hold. Default: `PRICE_MIN_SIDE_USD` (500).',
  }),
};

/** docs/api/prices.md. A token's first request reads balances of concentrated pools. */
export const tokenPriceRoute = routesFor<ProvenPriceServices>().defineRoute({
  path: '/api/v2.2/erc20/{address}/price',
  operationId: 'getTokenPrice',
  tag: 'Tokens',
  summary: 'Get the price of a token',
  description:
    'Price at the end of a block, from proven pools against dollar tokens and ether. A jump must hold for ten minutes. Returns 404 if no pool is deep enough.',
  params: [
    {
      address: addressParameter().openapi({
        description: 'Token contract. The zero address and 0xeeee…eeee are the native token.',
      }),
    },
  ],
  query: [
    'chain',
    PRICE_QUERY,
    {
      exchange: z.string().optional().openapi({
        description: 'Name of an exchange (uniswapv2, …) or address of its factory. Default: all.',
      }),
      to_block: blockParameter('Block of the price, inclusive. Default: the newest.'),
      explain: booleanParameter({
        default: false,
        description: 'Adds the considered pools and the exact price.',
      }),
      proof: booleanParameter({
        default: false,
        description: 'Adds receipt proofs of the states and feeds that decided, and the explanation.',
      }),
    },
  ],
  datasets: [STATES_DATASET],
  response: { description: 'Price of the token', schema: tokenPriceView.schema },
  errors: [404],
  async answer({ address, chain, explain = false, services, ...request }) {
    const { exchange = null, to_block: toBlock = null } = request;
    const { read } = createPriceReader(priceSourcesOf(request, services), chain, request);
    const [price] = await read([{ token: tokenOf(address), exchange, toBlock }]);
    if (price === undefined) throw new RangeError('A wanted price has a result');
    if ('refusal' in price) {
      const { refusal, indexed } = price;
      const isEmpty = (indexed?.toBlock ?? null) === null;
      if (refusal.of === 'no-price' && (isEmpty || refusal.why.reason === 'no-pools'))
        indexedChain(request.api.chains, chain.key, EVERY_SWAP);
      throw errorOf(price, chain, explain);
    }
    if (request.proof !== true) return tokenPriceView.show(price, chain, explain);
    return services.provePrice(price, chain, request.reads);
  },
});

const TOKENS_MAX = 100;

const wantedPrice = z.object({
  token_address: addressParameter().openapi({ description: 'Token contract, or the native token.' }),
  exchange: z.string().optional().openapi({ description: 'As in getTokenPrice.' }),
  to_block: z
    .union([
      z.int().min(0),
      z
        .string()
        .regex(/^\d{1,15}$/)
        .transform(Number),
    ])
    .optional()
    .openapi({ type: 'string', pattern: '^[0-9]+$', description: 'Block of the price. Default: the newest.' }),
});

export const tokenPricesRoute = defineRoute({
  path: '/api/v2.2/erc20/prices',
  operationId: 'getMultipleTokenPrices',
  tag: 'Tokens',
  summary: 'Get prices of multiple tokens',
  description:
    'Prices of up to 100 tokens, in request order. Tokens without a price are left out. The headers X-Indexed-From-Block, X-Indexed-To-Block and X-Indexed-Complete report the indexed blocks.',
  query: ['chain', PRICE_QUERY],
  body: z.object({ tokens: z.array(wantedPrice).min(1).max(TOKENS_MAX) }),
  refuseInvalid: refuseBody('tokens', TOKENS_MAX),
  datasets: [STATES_DATASET],
  response: { description: 'Prices', schema: z.array(tokenPriceView.schema) },
  errors: [413],
  async answer({ chain, services, ...request }) {
    const { read, readIndexed } = createPriceReader(priceSourcesOf(request, services), chain, request);
    const wanted = request.body.tokens.map(
      ({ token_address: address, exchange = null, to_block: toBlock = null }) => {
        return { token: tokenOf(address), exchange, toBlock };
      },
    );
    const [prices, indexed] = await Promise.all([read(wanted), readIndexed()]);
    const shown = [];
    for (const price of prices) {
      if (!('refusal' in price)) shown.push(tokenPriceView.show(price, chain, false));
      else if (price.refusal.of === 'unknown-exchange' || price.refusal.of === 'beyond-head')
        throw errorOf(price, chain);
    }
    return request.c.json(shown, 200, indexedHeaders(indexed));
  },
});

/** As wallets and aggregators write the native token. */
const NATIVE_BY_CUSTOM = parseAddress(`0x${'ee'.repeat(20)}`);

function tokenOf(address: Address): Address {
  return address === NATIVE_BY_CUSTOM ? ZERO_ADDRESS : address;
}
