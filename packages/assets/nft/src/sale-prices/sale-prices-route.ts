import {
  type ApiDependencies,
  booleanParameter,
  defineRoute,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { nftTrades } from '../trades/dataset.ts';
import { getSalePrices } from './get-sale-prices.ts';
import { salePricesSchema, showSalePrices } from './sale-prices-response.ts';

/** docs/api/nfts.md#sale-prices */
export const tokenSalePricesRoute: RouteModule = (app, dependencies) => {
  const { parameters, reads } = dependencies;
  defineRoute(app, dependencies, {
    ...shared(parameters),
    path: '/api/v2.2/nft/{address}/{token_id}/price',
    operationId: 'getNFTSalePrices',
    summary: 'Get sale prices of an NFT',
    description: `Last, lowest, highest and average price of an NFT over the requested number of days. ${COUNTED}`,
    params: { address: parameters.address, token_id: parameters.tokenId },
    async answer({
      address: token,
      token_id: tokenId,
      chain,
      days = DAYS_DEFAULT,
      include_weth: includeWrapped = false,
    }) {
      const prices = await getSalePrices(reads, chain, { token, tokenId, days, now: new Date(), includeWrapped });
      return showSalePrices(prices, days, null);
    },
  });
};

export const collectionSalePricesRoute: RouteModule = (app, dependencies) => {
  const { parameters, reads } = dependencies;
  defineRoute(app, dependencies, {
    ...shared(parameters),
    path: '/api/v2.2/nft/{address}/price',
    operationId: 'getNFTContractSalePrices',
    summary: 'Get sale prices of an NFT collection',
    description: `Last, lowest, highest and average NFT price of a collection over the requested number of days. ${COUNTED}`,
    params: { address: parameters.address },
    async answer({ address: token, chain, days = DAYS_DEFAULT, include_weth: includeWrapped = false }) {
      const prices = await getSalePrices(reads, chain, {
        token,
        tokenId: null,
        days,
        now: new Date(),
        includeWrapped,
      });
      return showSalePrices(prices, days, token);
    },
  });
};

const COUNTED =
  'Includes sales of a single token for more than zero ether (canonical bridged ether on chains with another native token). For ERC-1155, the price is per unit, rounded down. Bundles are omitted.';

const DAYS_DEFAULT = 7;
const DAYS_MAX = 365;

const shared = ({ chain }: ApiDependencies['parameters']) => ({
  tags: ['NFT trades and prices'],
  query: {
    chain,
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
  },
  datasets: [nftTrades.name],
  response: { description: 'The sale prices', schema: salePricesSchema },
});
