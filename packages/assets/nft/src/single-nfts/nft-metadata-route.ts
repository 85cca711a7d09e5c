import type { Chain } from '@chainstead/chains';
import type { Database } from '@chainstead/db';
import {
  type ApiContext,
  defineRoute,
  NotFoundError,
  NotServedError,
  type RouteModule,
  refuseInvalid,
  requireIndexes,
  UNSERVED_OPERATIONS,
} from '@chainstead/http';
import { indexedSchema, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { getCollectionCoverage } from '../collections/collection-coverage.ts';
import { type CreateMetadataRequests, enqueueCollection } from '../collections/request-metadata.ts';
import type { TokenKey } from '../collections/token-rows.ts';
import type { RecordKey } from '../records/nft-record.ts';
import { createRecordPages, type SendersOf } from '../records/record-pages.ts';
import { includePricesParameter, recordParameters } from '../records/record-parameters.ts';
import { nftSchema, showNft } from '../records/record-response.ts';
import type { HeldNow } from '../token-state/held-readers.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { readTokens, requestTokens } from './read-requested-tokens.ts';
import { createTokenHolders } from './token-holders.ts';

/** docs/api/nfts.md#nft-metadata */
export const nftMetadataSchema = z.object({ ...nftSchema.shape, indexed: indexedSchema }).openapi('NftMetadata');

/** An id without an indexed transfer exists if its contract returns an owner or a document. */
export function nftMetadataRoute(
  createRequests: CreateMetadataRequests,
  sendersOf?: SendersOf,
  heldNow?: HeldNow,
): RouteModule {
  return (app, dependencies) => {
    const { database, parameters } = dependencies;
    const requests = createRequests(dependencies);
    const pages = createRecordPages(database, sendersOf);
    const holders = createTokenHolders(database, heldNow);
    defineRoute(app, dependencies, {
      path: '/api/v2.2/nft/{address}/{token_id}',
      operationId: 'getNFTMetadata',
      tags: ['NFTs'],
      summary: 'Get metadata of an NFT',
      description:
        'An NFT with its owner and metadata. For ERC-1155, the owner is the holder that received it last. Unknown metadata is read on request, up to `ON_DEMAND_WAIT_MS`; after that, returns the known data.',
      params: { address: parameters.address, token_id: parameters.tokenId },
      query: {
        chain: parameters.chain,
        ...recordParameters({ normalizeMetadata: true }),
        include_prices: includePricesParameter(),
      },
      refuseInvalid: refuseUnlessNamed,
      datasets: [nftTransfers.name],
      response: { description: 'The NFT', schema: nftMetadataSchema },
      errors: [404],
      async answer({ address, token_id: tokenId, chain, c, ...query }) {
        const requested = { chain, requester: requests.requesterOf(c) };
        requireIndexes(await holders.missingIndexes());
        await enqueueCollection({ database, requests }, requested, address);
        const token = { address, tokenId };
        const refusal = await requestTokens({ database, requests }, requested, [token]);
        const coverage = await getCollectionCoverage(database, chain, [address]);
        const [held = null] = await holders.find(chain, [token], coverage);
        if (held === null && refusal !== null) throw refusal;
        const key = held ?? (await neverMoved(database, chain, token));
        const includePrices = query.include_prices ?? false;
        const { records, lastSales, minters } = await pages.read(chain, [key], { includePrices });
        const [record] = records;
        if (record === undefined) throw new Error('Every key has its record');
        const { format = 'decimal', normalizeMetadata = true, media_items: mediaItems = false } = query;
        const options = { format, normalizeMetadata, mediaItems, collection: 'all', lastSales, minters } as const;
        const shown = showNft(record, options);
        const indexed = coverage.get(address)?.indexed ?? { fromBlock: null, toBlock: null, complete: false };
        return { ...shown, indexed: showIndexed(indexed) };
      },
    });
  };
}

async function neverMoved(database: Database, chain: Chain, token: TokenKey): Promise<RecordKey> {
  const [reading] = await readTokens(database, chain, [token]);
  const { status, hasUri } = reading ?? { status: null, hasUri: false };
  if (status === 'known' || hasUri) return { ...token, owner: null, amount: null, blockNumber: null };
  const name = `Token ${token.tokenId} of ${token.address}`;
  if (status === 'none') throw new NotFoundError(`${name} was not found`, { status: 'not-found' });
  const [problem, details] =
    status === 'failed'
      ? [`could not be read on ${chain.key} yet: Chainstead retries automatically`, { status }]
      : [`is not indexed on ${chain.key} yet: it is being read, retry in a moment`, { status: 'indexing' }];
  throw new NotFoundError(`${name} ${problem}`, details);
}

function refuseUnlessNamed(result: Parameters<typeof refuseInvalid>[0], c: ApiContext): undefined {
  const name = c.req.path.split('/').at(-1);
  const unserved = UNSERVED_OPERATIONS.find(
    ({ method, path }) => method === 'GET' && path === `/api/v2.2/nft/{address}/${name}`,
  );
  if (!result.success && unserved !== undefined) throw new NotServedError(unserved);
  refuseInvalid(result, c);
}
