import { BODY_LIST_MAX, defineRoute, type RouteModule, refuseBody, requireIndexes } from '@chainstead/http';
import { indexedHeaders } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { coveredOfAll, getCollectionCoverage } from '../collections/collection-coverage.ts';
import type { CreateMetadataRequests } from '../collections/metadata-requests.ts';
import { createRecordPages, type SendersOf } from '../records/record-pages.ts';
import { type NftRecordOptions, ownedNftSchema, showOwnedNft } from '../records/record-response.ts';
import type { HeldNow } from '../token-state/held-now.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { readWithinBudget } from './read-within-budget.ts';
import { createTokenHolders } from './token-holders.ts';

/** docs/api/nfts.md#multiple-nfts */
export const multipleNftsSchema = z.array(ownedNftSchema.nullable());

/** Documents beyond the budget of node calls are left to later requests. */
export function multipleNftsRoute(
  createRequests: CreateMetadataRequests,
  sendersOf?: SendersOf,
  heldNow?: HeldNow,
): RouteModule {
  return (app, dependencies) => {
    const { database, parameters } = dependencies;
    const tokens = z.array(z.object({ token_address: parameters.address, token_id: parameters.tokenId }));
    const requests = createRequests(dependencies);
    const pages = createRecordPages(database, sendersOf);
    const holders = createTokenHolders(database, heldNow);
    defineRoute(app, dependencies, {
      path: '/api/v2.2/nft/getMultipleNFTs',
      operationId: 'getMultipleNFTs',
      tags: ['NFTs'],
      summary: 'Get metadata of multiple NFTs',
      description:
        'Up to 25 NFTs in request order. null for an NFT without transfers in the indexed blocks. The headers X-Indexed-From-Block, X-Indexed-To-Block and X-Indexed-Complete report the indexed blocks of their collections.',
      query: { chain: parameters.chain },
      body: z.object({
        tokens: tokens.min(1).max(BODY_LIST_MAX),
        normalizeMetadata: z.boolean().optional(),
        media_items: z.boolean().optional(),
      }),
      refuseInvalid: refuseBody('tokens'),
      datasets: [nftTransfers.name],
      response: { description: 'The NFTs', schema: multipleNftsSchema },
      errors: [413],
      async answer({ body, chain, c }) {
        const requester = requests.requesterOf(c);
        requireIndexes(await holders.missingIndexes());
        const tokens = body.tokens.map(({ token_address: address, token_id: tokenId }) => ({ address, tokenId }));
        const contracts = [...new Set(tokens.map(({ address }) => address))];
        const coverage = await getCollectionCoverage(database, chain, contracts);
        const held = await holders.find(chain, tokens, coverage);
        const keys = held.filter((key) => key !== null);
        await readWithinBudget({ database, requests }, { chain, requester, contracts, held, coverage });
        const { records, lastSales, minters } = await pages.read(chain, keys, { includePrices: false });
        const options: NftRecordOptions = {
          ...{ format: 'decimal', collection: 'all', lastSales, minters },
          normalizeMetadata: body.normalizeMetadata ?? false,
          mediaItems: body.media_items ?? false,
        };
        const shown = records.map((record) => showOwnedNft(record, options)).values();
        const nfts = held.map((key) => (key === null ? null : (shown.next().value ?? null)));
        return c.json(nfts, 200, indexedHeaders(coveredOfAll(coverage)));
      },
    });
  };
}
