import {
  type ApiDependencies,
  booleanParameter,
  errorResponses,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { answerNftTransfers, type NftTransfersOptions } from './answer-nft-transfers.ts';
import { nftTransfersSchema } from './nft-transfers-response.ts';

const PAGING_TEXT = 'Pages follow by `cursor`; rows that arrive meanwhile never shift them.';

/** The lists of NFT transfers: of a wallet, of a collection, of one NFT (docs/provider-contract.md#nft-transfers). */
const ROUTES = [
  {
    kind: 'wallet',
    path: '/api/v2.2/{address}/nft/transfers',
    operationId: 'getWalletNFTTransfers',
    summary: "A wallet's NFT transfers",
    description: `NFTs that a wallet sent or received, by block number, newest first by default. With \`contract_addresses\` a page may be short though another follows: only a null \`cursor\` ends a run. ${PAGING_TEXT}`,
  },
  {
    kind: 'collection',
    path: '/api/v2.2/nft/{address}/transfers',
    operationId: 'getNFTContractTransfers',
    summary: "A collection's transfers",
    description: `Transfers of all tokens of a collection, by block number, newest first by default. ${PAGING_TEXT}`,
  },
  {
    kind: 'token',
    path: '/api/v2.2/nft/{address}/{token_id}/transfers',
    operationId: 'getNFTTransfers',
    summary: "An NFT's transfers",
    description: `Transfers of one token, by block number, newest first by default; also the mint of a range of ids that it is in. ${PAGING_TEXT}`,
  },
] as const;

/** The three routes of NFT transfers. */
export function nftTransfersRoutes(options: NftTransfersOptions): readonly RouteModule[] {
  return ROUTES.map(({ kind, ...described }) => (app, dependencies) => {
    const answer = answerNftTransfers(dependencies, options, kind);
    const route = createRoute({
      method: 'get',
      tags: ['NFT'],
      ...described,
      request: requestOf(dependencies.parameters, kind),
      responses: {
        200: { description: 'A page of transfers', content: { 'application/json': { schema: nftTransfersSchema } } },
        ...errorResponses(400, 401, 429, 500, 503),
      },
    });
    app.openapi(route, async (c) => {
      const asked = { ...c.req.valid('query'), ...c.req.valid('param'), requestedBy: c.get('principal')?.id ?? 'open' };
      return c.json(await answer(asked), 200);
    });
  });
}

/** What a route of a kind reads of its requests. */
function requestOf(parameters: ApiDependencies['parameters'], kind: (typeof ROUTES)[number]['kind']) {
  const params = z.object({ address: parameters.address });
  if (kind === 'token')
    return { params: params.extend({ token_id: parameters.tokenId }), query: querySchema(commonQuery(parameters)) };
  const query = { ...commonQuery(parameters), ...boundsQuery(parameters) };
  if (kind === 'collection') return { params, query: querySchema(query) };
  const bounded = { ...query, to_block: parameters.toBlock.openapi({ type: 'string', pattern: '^[0-9]+$' }) };
  return { params, query: querySchema(bounded, { contract_addresses: parameters.addresses }) };
}

const FORMATS = ['decimal', 'hex'] as const;

function commonQuery(parameters: ApiDependencies['parameters']) {
  return {
    chain: parameters.chain,
    format: textParameter('decimal or hex', (text) => FORMATS.find((format) => format === text.toLowerCase()))
      .optional()
      .openapi({
        type: 'string',
        enum: [...FORMATS],
        default: 'decimal',
        description: 'How token ids are written in the answer.',
      }),
    limit: parameters.limit,
    order: parameters.order,
    cursor: parameters.cursor,
    include_prices: booleanParameter({
      default: false,
      description: "Adds last_sale, the token's last sale paid in ether within a year.",
    }),
  };
}

function boundsQuery(parameters: ApiDependencies['parameters']) {
  return {
    from_block: parameters.fromBlock,
    to_block: parameters.toBlock,
    from_date: parameters.fromDate,
    to_date: parameters.toDate,
  };
}
