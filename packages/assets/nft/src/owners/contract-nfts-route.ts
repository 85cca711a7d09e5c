import { parseAddress } from '@chainstead/core';
import {
  defineListRoute,
  InvalidParameterError,
  NotServedError,
  querySchema,
  type RouteModule,
  refuseInvalid,
  textParameter,
  UNSERVED_OPERATIONS,
} from '@chainstead/http';
import { showIndexed, showSyncState } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { createRecordPages } from '../records/record-pages.ts';
import { includePricesParameter, recordParameters } from '../records/record-parameters.ts';
import { showNft } from '../records/record-response.ts';
import { requestUnreadTokens } from '../records/request-unread-tokens.ts';
import { NOBODY_REQUESTED } from '../token-state/held-now.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { type CollectionSubjectsOptions, createCollectionSubjects } from './collection-subjects.ts';
import { type HashRange, hashRange } from './contract-nfts-statement.ts';
import { getContractNfts } from './get-contract-nfts.ts';
import { contractNftsSchema } from './owners-response.ts';

/** docs/api/nfts.md#nfts-of-a-collection */
export function createContractNftsRoute(options: CollectionSubjectsOptions): RouteModule {
  return (app, dependencies) => {
    const { database, parameters, reads } = dependencies;
    const subjects = createCollectionSubjects(dependencies, options);
    const { heldNow = NOBODY_REQUESTED } = options;
    const records = createRecordPages(reads, options.sendersOf);
    defineListRoute(app, dependencies, {
      path: '/api/v2.2/nft/{address}',
      operationId: 'getContractNFTs',
      tags: ['NFTs'],
      summary: 'List NFTs by collection',
      description:
        'Existing NFTs of a collection, highest token hash first. `totalRanges` and `range` select one of several equal parts of the hashes for parallel downloads. The status is SYNCING while blocks of the collection are missing; the first request starts their backfill.',
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        ...recordParameters({ normalizeMetadata: true }),
        include_prices: includePricesParameter(),
        totalRanges: countParameter(`Number of parts of the collection, up to ${RANGES_MAX}. Use it with range.`),
        range: countParameter('Number of the part, from 1. Use it with totalRanges.'),
        limit: parameters.limit,
        cursor: parameters.cursor,
      }),
      refuseInvalid(result, c) {
        const unserved = UNSERVED_OPERATIONS.find(({ method, path }) => method === 'GET' && path === c.req.path);
        if (!result.success && unserved !== undefined) throw new NotServedError(unserved);
        refuseInvalid(result, c);
      },
      response: { description: 'A page of NFTs', schema: contractNftsSchema },
      datasets: [nftTransfers.name],
      cursorName: 'collection-nfts',
      filter: filterSchema,
      filterOf: ({ address, chain, cursor, limit, body, ...filter }) => ({
        ...filter,
        address,
        chain: chain?.key,
      }),
      position: z.object({ hash: z.string().regex(/^[0-9a-f]{32}$/) }),
      firstPage: 0,
      read: async ({ chain, filter, limit, position, requester }) => {
        const requested = { chain, contract: parseAddress(filter.address), requestedBy: requester };
        const query = { limit, after: position?.hash ?? null, range: rangeOf(filter) };
        const nfts = await getContractNfts(dependencies, { subjects, heldNow }, requested, query);
        const includePrices = filter.include_prices;
        const { records: tokens, ...shared } = await records.read(chain, nfts.ids, { includePrices });
        await requestUnreadTokens(database, chain, tokens);
        const hash = nfts.nextAfter;
        const next = hash === null ? null : { position: { hash }, upperBound: nfts.indexed.toBlock ?? 0 };
        return { nfts, tokens, shared, next };
      },
      present: ({ nfts, tokens, shared }, envelope, { filter }) => {
        const { format, normalizeMetadata, media_items: mediaItems } = filter;
        const shown = { ...shared, format, normalizeMetadata, mediaItems, collection: 'pictures' } as const;
        return {
          ...showSyncState(nfts),
          ...envelope,
          indexed: showIndexed(nfts.indexed),
          result: tokens.map((token) => showNft(token, shown)),
        };
      },
    });
  };
}

/** Errors repeat these names of parameters. */
const filterSchema = z.object({
  address: z.string(),
  chain: z.string().default('eth'),
  format: z.enum(['decimal', 'hex']).default('decimal'),
  normalizeMetadata: z.boolean().default(true),
  media_items: z.boolean().default(false),
  include_prices: z.boolean().default(false),
  totalRanges: z.int().nullable().default(null),
  range: z.int().nullable().default(null),
});
type Filter = z.infer<typeof filterSchema>;

function rangeOf({ totalRanges, range }: Filter): HashRange | null {
  if (totalRanges === null && range === null) return null;
  if (totalRanges === null)
    throw new InvalidParameterError({ parameter: 'totalRanges', allowed: 'in how many parts range counts' });
  if (range === null)
    throw new InvalidParameterError({ parameter: 'range', allowed: `which of the ${totalRanges} parts, from 1` });
  if (range > totalRanges)
    throw new InvalidParameterError({
      parameter: 'range',
      given: range,
      allowed: `a whole number from 1 to totalRanges (${totalRanges})`,
    });
  return hashRange({ range, totalRanges });
}

const RANGES_MAX = 100;

function countParameter(description: string) {
  return textParameter(`a whole number from 1 to ${RANGES_MAX}`, (text) => {
    const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
    return count >= 1 && count <= RANGES_MAX ? count : undefined;
  })
    .optional()
    .openapi({ type: 'integer', minimum: 1, maximum: RANGES_MAX, description });
}
