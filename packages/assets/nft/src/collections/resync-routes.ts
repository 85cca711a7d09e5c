import { type ChainId, waitingAtMost } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import { NotFoundError, textParameter } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { defineRoute } from './request-metadata.ts';
import type { TokenKey } from './token-rows.ts';

/** Milliseconds: `mode=sync` waits no longer for a slow document. */
const SYNC_WAIT_MS = 20_000;

export const syncStatus = z
  .object({ status: z.enum(['SYNCING', 'SYNCED']), message: z.string() })
  .openapi('SyncStatus');
export type SyncStatus = z.infer<typeof syncStatus>;

/** docs/api/nfts.md#collection-metadata */
export const syncCollectionRoute = defineRoute({
  method: 'put',
  path: '/api/v2.2/nft/{address}/sync',
  operationId: 'syncNFTContract',
  tag: 'NFTs',
  summary: 'Refresh the metadata of an NFT collection',
  params: ['address'],
  query: ['chain'],
  response: { status: 201, description: 'The metadata will be read', schema: syncStatus },
  errors: [404],
  async answer({ services: { requests }, address, chain, requester }) {
    await requests.collectionAgain(chain, address, requests.requesterOf(requester));
    return { status: 'SYNCING' as const, message: 'The collection is read again' };
  },
});

export const resyncTokenRoute = defineRoute({
  path: '/api/v2.2/nft/{address}/{token_id}/metadata/resync',
  operationId: 'reSyncMetadata',
  tag: 'NFTs',
  summary: 'Refresh the metadata of an NFT',
  params: ['address', { token_id: 'tokenId' }],
  query: [
    'chain',
    {
      flag: oneOf(
        ['uri', 'metadata'],
        'uri',
        'metadata: read the metadata from its known URI. uri: first read the URI from the contract.',
      ),
      mode: oneOf(['async', 'sync'], 'async', 'sync waits until the metadata is read, up to 20 s.'),
    },
  ],
  response: { status: 202, description: 'The metadata will be read', schema: syncStatus },
  otherResponses: {
    200: {
      description: 'The metadata was read (mode sync)',
      content: { 'application/json': { schema: syncStatus } },
    },
  },
  errors: [404],
  async answer({
    services: { requests },
    database,
    address,
    token_id: tokenId,
    chain,
    flag,
    mode,
    requester,
    c,
  }) {
    const token = { address, tokenId };
    await requests.token(chain, token, flag, requests.requesterOf(requester));
    if (mode === 'sync') {
      await waitingAtMost(SYNC_WAIT_MS, () => requests.settled({ chainId: chain.id, ...token }));
      const status = await getTokenStatus(database, chain.id, token);
      if (status === 'known') return c.json({ status: 'SYNCED', message: 'The metadata was read' }, 200);
      if (status === 'none') throw new NotFoundError(`${address} names no metadata for token ${tokenId}`);
      if (status === 'failed') throw new NotFoundError(`The metadata of token ${tokenId} could not be read`);
    }
    return { status: 'SYNCING' as const, message: 'The metadata is read again' };
  },
});

function oneOf<const Choice extends string>(choices: readonly Choice[], standard: Choice, description: string) {
  return textParameter(choices.join(' or '), (text) => choices.find((choice) => choice === text.toLowerCase()))
    .optional()
    .openapi({ type: 'string', enum: [...choices], default: standard, description })
    .transform((choice) => choice ?? standard);
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
