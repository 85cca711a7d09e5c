import type { ChainId } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import {
  type ApiDependencies,
  errorResponses,
  indexedChain,
  NotFoundError,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import type { CreateMetadataRequests } from './metadata-requests.ts';
import type { TokenKey } from './token-rows.ts';

const DEFAULT_CHAIN = 'eth';
/** Milliseconds: `mode=sync` waits no longer for a slow document. */
const SYNC_WAIT_MS = 20_000;

const syncStatus = z.object({ status: z.enum(['SYNCING', 'SYNCED']), message: z.string() }).openapi('SyncStatus');
export type SyncStatus = z.infer<typeof syncStatus>;

export const syncAnswer = (description: string) => ({
  description,
  content: { 'application/json': { schema: syncStatus } },
});

/** docs/api/nfts.md#collection-metadata */
export function syncCollectionRoute(createRequests: CreateMetadataRequests): RouteModule {
  return (app, dependencies) => {
    const requests = createRequests(dependencies);
    app.openapi(syncCollection(dependencies), async (c) => {
      const chain = indexedChain(dependencies.chains, c.req.valid('query').chain?.key ?? DEFAULT_CHAIN);
      await requests.collectionAgain(chain, c.req.valid('param').address, requests.requesterOf(c));
      return c.json({ status: 'SYNCING' as const, message: 'The collection is read again' }, 201);
    });
  };
}

export function resyncTokenRoute(createRequests: CreateMetadataRequests): RouteModule {
  return (app, dependencies) => {
    const requests = createRequests(dependencies);
    app.openapi(resyncToken(dependencies), async (c) => {
      const { address, token_id: tokenId } = c.req.valid('param');
      const { chain: given, flag: source = 'uri', mode = 'async' } = c.req.valid('query');
      const chain = indexedChain(dependencies.chains, given?.key ?? DEFAULT_CHAIN);
      const token = { address, tokenId };
      await requests.token(chain, token, source, requests.requesterOf(c));
      if (mode === 'sync') {
        await requests.settled({ chainId: chain.id, ...token }, SYNC_WAIT_MS);
        const status = await getTokenStatus(dependencies.database, chain.id, token);
        if (status === 'known') return c.json({ status: 'SYNCED' as const, message: 'The metadata was read' }, 200);
        if (status === 'none') throw new NotFoundError(`${address} names no metadata for token ${tokenId}`);
        if (status === 'failed') throw new NotFoundError(`The metadata of token ${tokenId} could not be read`);
      }
      return c.json({ status: 'SYNCING' as const, message: 'The metadata is read again' }, 202);
    });
  };
}

function syncCollection({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'put',
    path: '/api/v2.2/nft/{address}/sync',
    operationId: 'syncNFTContract',
    tags: ['NFTs'],
    summary: 'Refresh the metadata of an NFT collection',
    request: { params: z.object({ address: parameters.address }), query: querySchema({ chain: parameters.chain }) },
    responses: { 201: syncAnswer('The metadata will be read'), ...errorResponses(400, 401, 404, 429, 500, 503) },
  });
}

function resyncToken({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/{token_id}/metadata/resync',
    operationId: 'reSyncMetadata',
    tags: ['NFTs'],
    summary: 'Refresh the metadata of an NFT',
    request: {
      params: z.object({ address: parameters.address, token_id: parameters.tokenId }),
      query: querySchema({
        chain: parameters.chain,
        flag: oneOf(
          ['uri', 'metadata'],
          'uri',
          'metadata: read the metadata from its known URI. uri: first read the URI from the contract.',
        ),
        mode: oneOf(['async', 'sync'], 'async', 'sync waits until the metadata is read, up to 20 s.'),
      }),
    },
    responses: {
      200: syncAnswer('The metadata was read (mode sync)'),
      202: syncAnswer('The metadata will be read'),
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}

function oneOf<const Choice extends string>(choices: readonly Choice[], standard: Choice, description: string) {
  return textParameter(choices.join(' or '), (text) => choices.find((choice) => choice === text.toLowerCase()))
    .optional()
    .openapi({ type: 'string', enum: [...choices], default: standard, description });
}

async function getTokenStatus(
  database: Database,
  chainId: ChainId,
  { address, tokenId }: TokenKey,
): Promise<'pending' | 'known' | 'none' | 'failed' | null> {
  const [row] = await database.query<{ status: 'pending' | 'known' | 'none' | 'failed' }>(
    sql`SELECT status FROM nft_token_metadata WHERE token_address = ${addressBytes(address)} AND chain_id = ${chainId} AND token_id = ${tokenId}::numeric`,
  );
  return row?.status ?? null;
}
