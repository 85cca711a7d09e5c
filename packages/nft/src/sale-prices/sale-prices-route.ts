import {
  type ApiDependencies,
  booleanParameter,
  errorResponses,
  indexedChain,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { nftTrades } from '../trades/dataset.ts';
import { getSalePrices } from './get-sale-prices.ts';
import { salePricesSchema, showSalePrices } from './sale-prices-response.ts';
import type { SalePricesQuery } from './sale-prices-statement.ts';

/** `GET /api/v2.2/nft/{address}/{token_id}/price`: what a token was sold for (docs/provider-contract.md#sale-prices). */
export const tokenSalePricesRoute: RouteModule = (app, dependencies) => {
  const { parameters } = dependencies;
  const route = createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/{token_id}/price',
    operationId: 'getNFTSalePrices',
    tags: ['NFT'],
    summary: 'Sale prices of a token',
    description: `Last, lowest, highest and average price of a token over some days up to now. ${COUNTED}`,
    request: {
      params: z.object({ address: parameters.address, token_id: parameters.tokenId }),
      query: pricesQuery(parameters),
    },
    responses: pricesResponses(),
  });
  app.openapi(route, async (c) => {
    const { address, token_id: tokenId } = c.req.valid('param');
    return c.json(await answerPrices(dependencies, c.req.valid('query'), { token: address, tokenId }), 200);
  });
};

/** `GET /api/v2.2/nft/{address}/price`: what a collection's tokens were sold for (docs/provider-contract.md#sale-prices). */
export const collectionSalePricesRoute: RouteModule = (app, dependencies) => {
  const { parameters } = dependencies;
  const route = createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/price',
    operationId: 'getNFTContractSalePrices',
    tags: ['NFT'],
    summary: 'Sale prices of a collection',
    description: `Last, lowest, highest and average price of a collection's tokens over some days up to now. ${COUNTED}`,
    request: { params: z.object({ address: parameters.address }), query: pricesQuery(parameters) },
    responses: pricesResponses(),
  });
  app.openapi(route, async (c) => {
    const { address } = c.req.valid('param');
    return c.json(await answerPrices(dependencies, c.req.valid('query'), { token: address, tokenId: null }), 200);
  });
};

const COUNTED =
  'Counted are sales of a single token paid in ether (on chains with another native currency: in the canonical bridged ether), at a price above zero; of an ERC-1155 token the price of one unit, rounded down. Bundles are left out.';

const DEFAULT_CHAIN = 'eth';
const DAYS_DEFAULT = 7;
const DAYS_MAX = 365;

function pricesQuery(parameters: ApiDependencies['parameters']) {
  return querySchema({
    chain: parameters.chain,
    days: textParameter(`a whole number from 0 to ${DAYS_MAX}`, parseDays).optional().openapi({
      type: 'integer',
      minimum: 0,
      maximum: DAYS_MAX,
      default: DAYS_DEFAULT,
      description: 'How far to look back. 0 is an empty window.',
    }),
    include_weth: booleanParameter({
      default: false,
      description: 'Counts sales paid in wrapped ether on chains whose native currency is ether.',
    }),
  });
}

/** Only prices of a whole collection name their token. */
async function answerPrices(
  { chains, reads }: ApiDependencies,
  { chain, days = DAYS_DEFAULT, include_weth }: z.output<ReturnType<typeof pricesQuery>>,
  subject: Pick<SalePricesQuery, 'token' | 'tokenId'>,
) {
  const indexed = indexedChain(chains, chain?.key ?? DEFAULT_CHAIN, nftTrades.name);
  const asked = { ...subject, days, now: new Date(), includeWrapped: include_weth === true };
  const prices = await getSalePrices(reads, indexed, asked);
  return showSalePrices(prices, days, subject.tokenId === null ? subject.token : null);
}

function parseDays(text: string): number | undefined {
  const days = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return days <= DAYS_MAX ? days : undefined;
}

function pricesResponses() {
  return {
    200: { description: 'Sale prices', content: { 'application/json': { schema: salePricesSchema } } },
    ...errorResponses(400, 401, 429, 500, 503),
  };
}
