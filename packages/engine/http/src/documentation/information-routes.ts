import { z } from '@hono/zod-openapi';
import type { ApiApp } from '../api-context.ts';
import { type RouteModule, withScope } from '../api-dependencies.ts';
import { routesFor, withServices } from '../routes/routes-for.ts';

const BASE = '/api/v2.2';

const RATE_LIMIT_COSTS: Readonly<Record<string, number>> = {
  getWalletTokenTransfers: 50,
  getWalletNFTCollections: 50,
  getNFTContractMetadata: 50,
  getNFTTrades: 40,
  getNFTTradesByToken: 40,
  getNFTTradesByWallet: 40,
  getNFTSalePrices: 30,
  getNFTContractSalePrices: 30,
  getTransaction: 10,
  getTransactionVerbose: 20,
  getBlock: 100,
  getLatestBlockNumber: 10,
  getDateToBlock: 1,
  getWalletTransactions: 30,
  getWalletTransactionsVerbose: 50,
  getWalletHistory: 150,
  getWalletActiveChains: 50,
  getWalletStats: 50,
  web3ApiVersion: 10,
  endpointWeights: 1,
};
const RATE_LIMIT_COST_DEFAULT = 10;

const { defineRoute } = routesFor<{ readonly version: string; readonly app: ApiApp }>();
const INFORMATION = { tag: 'System', onlyErrors: [401, 429] } as const;

const versionRoute = defineRoute({
  ...INFORMATION,
  path: `${BASE}/web3/version`,
  operationId: 'web3ApiVersion',
  summary: 'Get the version of Chainstead',
  response: {
    description: 'The version',
    schema: z.object({ version: z.string().openapi({ example: '1.0.0' }) }).openapi('ApiVersion'),
  },
  answer: async ({ services: { version } }) => ({ version }),
});

const weightSchema = z
  .object({
    endpoint: z.string().openapi({ example: 'getWalletTokenTransfers' }),
    path: z.string().openapi({ example: '/{address}/erc20/transfers' }),
    rateLimitCost: z
      .number()
      .openapi({ description: 'Weight in the hosted API. Chainstead does not count weights' }),
    price: z.number().openapi({ example: 0 }),
  })
  .openapi('EndpointWeight');

const weightsRoute = defineRoute({
  ...INFORMATION,
  path: `${BASE}/info/endpointWeights`,
  operationId: 'endpointWeights',
  summary: 'List the served operations with their weights',
  description: 'For clients that limit their rate by the weights of the hosted API.',
  response: { description: 'The served operations', schema: z.array(weightSchema) },
  answer: async ({ services: { app } }) =>
    app.openAPIRegistry.definitions.flatMap((definition) => {
      if (definition.type !== 'route') return [];
      const { path, operationId } = definition.route;
      if (operationId === undefined || !path.startsWith(`${BASE}/`)) return [];
      const rateLimitCost = RATE_LIMIT_COSTS[operationId] ?? RATE_LIMIT_COST_DEFAULT;
      return [{ endpoint: operationId, path: path.slice(BASE.length), rateLimitCost, price: 0 }];
    }),
});

export const informationRoutes = (version: string): RouteModule =>
  withScope('data', [(app, api) => withServices({ version, app }, [versionRoute, weightsRoute])(app, api)]);
