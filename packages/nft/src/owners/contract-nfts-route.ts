import { showIndexed, showSyncState } from '@chainstead/answers';
import { parseAddress } from '@chainstead/core';
import {
  type ApiContext,
  type ApiDependencies,
  errorResponses,
  InvalidParameterError,
  indexedChain,
  NotServedError,
  querySchema,
  type RouteModule,
  refuseInvalid,
  textParameter,
  UNSERVED_OPERATIONS,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { createRecordPages } from '../records/record-pages.ts';
import { includePricesParameter, recordParameters } from '../records/record-parameters.ts';
import { type RecordOptions, showNft } from '../records/record-response.ts';
import { requestUnreadTokens } from '../records/request-unread-tokens.ts';
import { NOBODY_ASKED } from '../token-state/held-now.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { type CollectionSubjectsOptions, createCollectionSubjects, requesterOf } from './collection-subjects.ts';
import { getContractNfts } from './get-contract-nfts.ts';
import { type HashRange, hashRange } from './hash-range.ts';
import { contractNftsSchema } from './owners-response.ts';

/**
 * `GET /api/v2.2/nft/{address}`: the existing ids of a collection, highest token hash first, all of them or one of some equal parts
 * (docs/provider-contract.md#nfts-of-a-collection). Who holds what is counted from the collection's transfers at the first request, and kept from then on.
 */
export function createContractNftsRoute(options: CollectionSubjectsOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, database, limits, paging, reads } = dependencies;
    const subjects = createCollectionSubjects(dependencies, options);
    const { heldNow = NOBODY_ASKED } = options;
    const records = createRecordPages(reads, options.sendersOf);
    const runs = paging.forRoute({
      route: 'collection-nfts',
      filter: filterSchema,
      position: z.object({ hash: z.string().regex(/^[0-9a-f]{32}$/) }),
      defaults: DEFAULTS,
      limitDefault: Math.min(PAGE_SIZE_DEFAULT, limits.pageLimitMax),
    });
    app.openapi(
      routeOf(dependencies),
      async (c) => {
        const { cursor, limit, ...query } = c.req.valid('query');
        const page = runs.open({
          cursor,
          limit,
          order: undefined,
          filter: givenBy(c.req.valid('param').address, query),
        });
        const { filter, position } = page;
        const chain = indexedChain(chains, filter.chain, nftTransfers.name);
        const asked = { chain, contract: parseAddress(filter.address), requestedBy: requesterOf(c) };
        const place = { limit: page.limit, after: position?.hash ?? null, range: rangeOf(filter) };
        const found = await getContractNfts(dependencies, { subjects, heldNow }, asked, place);
        const { records: tokens, ...shared } = await records.read(chain, found.ids, {
          includePrices: filter.include_prices,
        });
        await requestUnreadTokens(database, chain, tokens);
        const hash = found.nextAfter;
        const upperBound = found.indexed.toBlock ?? 0;
        const shown: RecordOptions = {
          ...shared,
          format: filter.format,
          normalizeMetadata: filter.normalizeMetadata,
          mediaItems: filter.media_items,
          collection: 'pictures',
        };
        return c.json(
          {
            ...showSyncState(found),
            page: page.page,
            page_size: page.limit,
            cursor: hash === null ? null : runs.next(page, { position: { hash }, upperBound }),
            indexed: showIndexed(found.indexed),
            result: tokens.map((token) => showNft(token, shown)),
          },
          200,
        );
      },
      refuseUnlessServed,
    );
  };
}

const PAGE_SIZE_DEFAULT = 100;

/** What a cursor is bound to. Names are those of the parameters, which errors repeat. */
const filterSchema = z.object({
  address: z.string(),
  chain: z.string(),
  format: z.enum(['decimal', 'hex']),
  normalizeMetadata: z.boolean(),
  media_items: z.boolean(),
  include_prices: z.boolean(),
  totalRanges: z.int().nullable(),
  range: z.int().nullable(),
});
type Filter = z.infer<typeof filterSchema>;

const DEFAULTS: Filter = {
  address: '',
  chain: 'eth',
  format: 'decimal',
  normalizeMetadata: true,
  media_items: false,
  include_prices: false,
  totalRanges: null,
  range: null,
};

/** An operation that is not served has its name where this one has an address. */
function refuseUnlessServed(result: Parameters<typeof refuseInvalid>[0], c: ApiContext): undefined {
  const unserved = UNSERVED_OPERATIONS.find(({ method, path }) => method === 'GET' && path === c.req.path);
  if (!result.success && unserved !== undefined) throw new NotServedError(unserved);
  refuseInvalid(result, c);
}

/** What a request says of the filter. */
function givenBy(address: string, query: Omit<z.infer<ReturnType<typeof contractNftsQuery>>, 'limit' | 'cursor'>) {
  return {
    address,
    chain: query.chain?.key,
    format: query.format,
    normalizeMetadata: query.normalizeMetadata,
    media_items: query.media_items,
    include_prices: query.include_prices,
    totalRanges: query.totalRanges,
    range: query.range,
  };
}

/** @throws InvalidParameterError where one of both is missing, or the part is none of so many */
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

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}',
    operationId: 'getContractNFTs',
    tags: ['NFT'],
    summary: 'The NFTs of a collection',
    description:
      "Existing ids of a collection, highest token hash first. `totalRanges` with `range` gives one of so many equal parts of all hashes, for downloads side by side. While blocks are missing of the collection's history the status is SYNCING; the first request has them read.",
    request: {
      params: z.object({ address: parameters.address }),
      query: contractNftsQuery(parameters),
    },
    responses: {
      200: { description: 'A page of NFTs', content: { 'application/json': { schema: contractNftsSchema } } },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}

function contractNftsQuery(parameters: ApiDependencies['parameters']) {
  return querySchema({
    chain: parameters.chain,
    ...recordParameters({ normalizeMetadata: true }),
    include_prices: includePricesParameter(),
    totalRanges: countParameter(`Splits the collection into so many parts, up to ${RANGES_MAX}; goes with range.`),
    range: countParameter('Which of the parts, from 1; goes with totalRanges.'),
    limit: parameters.limit,
    cursor: parameters.cursor,
  });
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
