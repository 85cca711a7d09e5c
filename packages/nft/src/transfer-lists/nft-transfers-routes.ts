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

/** The lists of NFT transfers: of a wallet, of a collection, of one NFT. */
export function nftTransfersRoutes(options: NftTransfersOptions): readonly RouteModule[] {
  return [
    createWalletTransfersRoute(options),
    createCollectionTransfersRoute(options),
    createTokenTransfersRoute(options),
  ];
}

/** `GET /api/v2.2/{address}/nft/transfers`: the NFTs that a wallet sent or received (docs/provider-contract.md#nft-transfers). */
function createWalletTransfersRoute(options: NftTransfersOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    const answer = answerNftTransfers(dependencies, options, 'wallet');
    const route = createRoute({
      method: 'get',
      path: '/api/v2.2/{address}/nft/transfers',
      operationId: 'getWalletNFTTransfers',
      tags: ['NFT'],
      summary: "A wallet's NFT transfers",
      description: `NFTs that a wallet sent or received, by block number, newest first by default. With \`contract_addresses\` a page may be short though another follows: only a null \`cursor\` ends a run. ${PAGING_TEXT}`,
      request: {
        params: z.object({ address: parameters.address }),
        query: querySchema(
          {
            ...commonQuery(parameters),
            ...boundsQuery(parameters),
            to_block: parameters.toBlock.openapi({ type: 'string', pattern: '^[0-9]+$' }),
          },
          { contract_addresses: parameters.addresses },
        ),
      },
      responses: transfersResponses(),
    });
    app.openapi(route, async (c) => {
      const asked = { ...c.req.valid('query'), ...c.req.valid('param'), requestedBy: c.get('principal')?.id ?? 'open' };
      return c.json(await answer(asked), 200);
    });
  };
}

/** `GET /api/v2.2/nft/{address}/transfers`: what moved of a collection (docs/provider-contract.md#nft-transfers). */
function createCollectionTransfersRoute(options: NftTransfersOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    const answer = answerNftTransfers(dependencies, options, 'collection');
    const route = createRoute({
      method: 'get',
      path: '/api/v2.2/nft/{address}/transfers',
      operationId: 'getNFTContractTransfers',
      tags: ['NFT'],
      summary: "A collection's transfers",
      description: `Transfers of all tokens of a collection, by block number, newest first by default. ${PAGING_TEXT}`,
      request: {
        params: z.object({ address: parameters.address }),
        query: querySchema({ ...commonQuery(parameters), ...boundsQuery(parameters) }),
      },
      responses: transfersResponses(),
    });
    app.openapi(route, async (c) => {
      const asked = { ...c.req.valid('query'), ...c.req.valid('param'), requestedBy: c.get('principal')?.id ?? 'open' };
      return c.json(await answer(asked), 200);
    });
  };
}

/** `GET /api/v2.2/nft/{address}/{token_id}/transfers`: how an NFT moved (docs/provider-contract.md#nft-transfers). */
function createTokenTransfersRoute(options: NftTransfersOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    const answer = answerNftTransfers(dependencies, options, 'token');
    const route = createRoute({
      method: 'get',
      path: '/api/v2.2/nft/{address}/{token_id}/transfers',
      operationId: 'getNFTTransfers',
      tags: ['NFT'],
      summary: "An NFT's transfers",
      description: `Transfers of one token, by block number, newest first by default; also the mint of a range of ids that it is in. ${PAGING_TEXT}`,
      request: {
        params: z.object({ address: parameters.address, token_id: parameters.tokenId }),
        query: querySchema(commonQuery(parameters)),
      },
      responses: transfersResponses(),
    });
    app.openapi(route, async (c) => {
      const asked = { ...c.req.valid('query'), ...c.req.valid('param'), requestedBy: c.get('principal')?.id ?? 'open' };
      return c.json(await answer(asked), 200);
    });
  };
}

const PAGING_TEXT = 'Pages follow by `cursor`; rows that arrive meanwhile never shift them.';

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

function transfersResponses() {
  return {
    200: { description: 'A page of transfers', content: { 'application/json': { schema: nftTransfersSchema } } },
    ...errorResponses(400, 401, 429, 500, 503),
  };
}
