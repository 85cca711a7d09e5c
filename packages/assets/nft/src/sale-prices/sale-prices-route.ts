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

/** docs/api/nfts.md#sale-prices */
export const tokenSalePricesRoute: RouteModule = (app, dependencies) => {
  const { parameters } = dependencies;
  const route = createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/{token_id}/price',
    operationId: 'getNFTSalePrices',
    tags: ['NFT trades and prices'],
    summary: 'Get sale prices of an NFT',
    description: `Last, lowest, highest and average price of an NFT over the requested number of days. ${COUNTED}`,
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

export const collectionSalePricesRoute: RouteModule = (app, dependencies) => {
  const { parameters } = dependencies;
  const route = createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/price',
    operationId: 'getNFTContractSalePrices',
    tags: ['NFT trades and prices'],
    summary: 'Get sale prices of an NFT collection',
    description: `Last, lowest, highest and average NFT price of a collection over the requested number of days. ${COUNTED}`,
    request: { params: z.object({ address: parameters.address }), query: pricesQuery(parameters) },
    responses: pricesResponses(),
  });
  app.openapi(route, async (c) => {
    const { address } = c.req.valid('param');
    return c.json(await answerPrices(dependencies, c.req.valid('query'), { token: address, tokenId: null }), 200);
  });
};

const COUNTED =
  'Includes sales of a single token for more than zero ether (canonical bridged ether on chains with another native token). For ERC-1155, the price is per unit, rounded down. Bundles are omitted.';

const DEFAULT_CHAIN = 'eth';
const DAYS_DEFAULT = 7;
const DAYS_MAX = 365;

function pricesQuery(parameters: ApiDependencies['parameters']) {
  return querySchema({
    chain: parameters.chain,
    days: textParameter(`a whole number from 0 to ${DAYS_MAX}`, (text) => {
      const days = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
      return days <= DAYS_MAX ? days : undefined;
    })
      .optional()
      .openapi({
        type: 'integer',
        minimum: 0,
        maximum: DAYS_MAX,
        default: DAYS_DEFAULT,
        description: 'Number of days up to now. 0 is an empty window.',
      }),
    include_weth: booleanParameter({
      default: false,
      description: 'Includes sales paid in wrapped ether on chains whose native token is ether.',
    }),
  });
}

async function answerPrices(
  { chains, reads }: ApiDependencies,
  { chain, days = DAYS_DEFAULT, include_weth }: z.output<ReturnType<typeof pricesQuery>>,
  subject: Pick<SalePricesQuery, 'token' | 'tokenId'>,
) {
  const indexed = indexedChain(chains, chain?.key ?? DEFAULT_CHAIN, nftTrades.name);
  const requested = { ...subject, days, now: new Date(), includeWrapped: include_weth === true };
  const prices = await getSalePrices(reads, indexed, requested);
  return showSalePrices(prices, days, subject.tokenId === null ? subject.token : null);
}

function pricesResponses() {
  return {
    200: { description: 'The sale prices', content: { 'application/json': { schema: salePricesSchema } } },
    ...errorResponses(400, 401, 429, 500, 503),
  };
}
