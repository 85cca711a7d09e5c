import { z } from '@hono/zod-openapi';
import type { ApiApp } from '../api-context.ts';
import { type RouteModule, withScope } from '../api-dependencies.ts';
import { routesFor, withServices } from '../routes/routes-for.ts';
import { view } from '../routes/view.ts';
import { text, wire } from '../routes/wire.ts';

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

interface Services {
  readonly programVersion: string;
  /** Whose operations are listed. */
  readonly app: ApiApp;
}

export const informationRoutes = (programVersion: string): RouteModule =>
  withScope('data', [
    (app, api) => withServices({ programVersion, app }, [versionRoute, weightsRoute])(app, api),
  ]);

const { defineRoute } = routesFor<Services>();

const versionRoute = defineRoute({
  path: `${BASE}/web3/version`,
  operationId: 'web3ApiVersion',
  tag: 'System',
  summary: 'Get the version of Chainstead',
  response: {
    description: 'The version',
    schema: z.object({ version: z.string().openapi({ example: '1.0.0' }) }).openapi('ApiVersion'),
  },
  onlyErrors: [401, 429],
  answer: async ({ services: { programVersion: version } }) => ({ version }),
});

const number = wire(z.number());
const weightView = view('EndpointWeight', (endpoint: string, path: string) => ({ endpoint, path }), {
  endpoint: text({ example: 'getWalletTokenTransfers' }),
  path: text({ example: '/{address}/erc20/transfers' }, ({ path }) => path.slice(BASE.length)),
  rateLimitCost: number(
    'Weight in the hosted API. Chainstead does not count weights',
    ({ endpoint }) => RATE_LIMIT_COSTS[endpoint] ?? RATE_LIMIT_COST_DEFAULT,
  ),
  price: number({ example: 0 }, () => 0),
});

const weightsRoute = defineRoute({
  path: `${BASE}/info/endpointWeights`,
  operationId: 'endpointWeights',
  tag: 'System',
  summary: 'List the served operations with their weights',
  description: 'For clients that limit their rate by the weights of the hosted API.',
  response: { description: 'The served operations', schema: z.array(weightView.schema) },
  onlyErrors: [401, 429],
  answer: async ({ services: { app } }) =>
    app.openAPIRegistry.definitions.flatMap((definition) => {
      if (definition.type !== 'route') return [];
      const { path, operationId } = definition.route;
      const isListed = operationId !== undefined && path.startsWith(`${BASE}/`);
      return isListed ? [weightView.show(operationId, path)] : [];
    }),
});
