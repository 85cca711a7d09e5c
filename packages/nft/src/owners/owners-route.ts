import { showIndexed, showSyncState } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import {
  type ApiDependencies,
  errorResponses,
  indexedChain,
  type Page,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { changeRunSchema, continueRun } from '../records/change-pages.ts';
import { createRecordPages } from '../records/record-pages.ts';
import { recordParameters } from '../records/record-parameters.ts';
import { type RecordOptions, showOwnedNft } from '../records/record-response.ts';
import { requestUnreadTokens } from '../records/request-unread-tokens.ts';
import { createTokenHolders } from '../single-nfts/token-holders.ts';
import { NOBODY_ASKED } from '../token-state/held-now.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { type CollectionSubjectsOptions, createCollectionSubjects, requesterOf } from './collection-subjects.ts';
import { getOwners, type OwnersFound } from './get-owners.ts';
import { nftOwnersSchema } from './owners-response.ts';
import type { OwnersPlace } from './owners-statement.ts';

/**
 * `GET /api/v2.2/nft/{address}/owners`: who holds which id of a collection, newest change first (docs/provider-contract.md#nft-owners). Who holds what
 * is counted from the collection's transfers at the first request, and kept from then on.
 */
export function createCollectionOwnersRoute(options: CollectionSubjectsOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    const answer = answerOwners(dependencies, options, 'collection-owners');
    const route = createRoute({
      method: 'get',
      path: '/api/v2.2/nft/{address}/owners',
      operationId: 'getNFTOwners',
      tags: ['NFT'],
      summary: 'The owners of a collection, with what they own',
      description: `Ids of a collection, each with an owner, newest change first. ${SYNC_TEXT}`,
      request: { params: z.object({ address: parameters.address }), query: ownersQuery(parameters) },
      responses: ownersResponses(),
    });
    app.openapi(route, async (c) => {
      const { address } = c.req.valid('param');
      return c.json(await answer(requesterOf(c), c.req.valid('query'), { address, token_id: null }), 200);
    });
  };
}

/** `GET /api/v2.2/nft/{address}/{token_id}/owners`: who holds one id (docs/provider-contract.md#nft-owners). */
export function createTokenOwnersRoute(options: CollectionSubjectsOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    const answer = answerOwners(dependencies, options, 'token-owners');
    const route = createRoute({
      method: 'get',
      path: '/api/v2.2/nft/{address}/{token_id}/owners',
      operationId: 'getNFTTokenIdOwners',
      tags: ['NFT'],
      summary: 'The owners of an NFT',
      description: `Who holds one id of a collection, newest change first. ${SYNC_TEXT}`,
      request: {
        params: z.object({ address: parameters.address, token_id: parameters.tokenId }),
        query: ownersQuery(parameters),
      },
      responses: ownersResponses(),
    });
    app.openapi(route, async (c) =>
      c.json(await answer(requesterOf(c), c.req.valid('query'), c.req.valid('param')), 200),
    );
  };
}

const SYNC_TEXT =
  "While blocks are missing of the collection's history the status is SYNCING; the first request has them read.";
const PAGE_SIZE_DEFAULT = 100;

/** What a cursor is bound to. Names are those of the parameters, which errors repeat. */
const filterSchema = z.object({
  address: z.string(),
  token_id: z.string().nullable(),
  chain: z.string(),
  format: z.enum(['decimal', 'hex']),
  normalizeMetadata: z.boolean(),
  media_items: z.boolean(),
});
type Filter = z.infer<typeof filterSchema>;

/** The last row of a page. */
const positionSchema = z.object({ block: z.int(), id: z.string(), owner: z.string(), run: changeRunSchema });
type OwnersPage = Page<Filter, z.infer<typeof positionSchema>>;

function ownersQuery(parameters: ApiDependencies['parameters']) {
  return querySchema({
    chain: parameters.chain,
    ...recordParameters({ normalizeMetadata: false }),
    limit: parameters.limit,
    cursor: parameters.cursor,
  });
}
type OwnersQueryValues = z.infer<ReturnType<typeof ownersQuery>>;

function ownersResponses() {
  return {
    200: { description: 'A page of owners', content: { 'application/json': { schema: nftOwnersSchema } } },
    ...errorResponses(400, 401, 429, 500, 503),
  };
}

function runsOf({ limits, paging }: ApiDependencies, name: string) {
  return paging.forRoute({
    route: name,
    filter: filterSchema,
    position: positionSchema,
    defaults: {
      address: '',
      token_id: null,
      chain: 'eth',
      format: 'decimal',
      normalizeMetadata: false,
      media_items: false,
    },
    limitDefault: Math.min(PAGE_SIZE_DEFAULT, limits.pageLimitMax),
  });
}

/** Answers one route's requests. */
function answerOwners(dependencies: ApiDependencies, options: CollectionSubjectsOptions, name: string) {
  const { chains, database, reads } = dependencies;
  const subjects = createCollectionSubjects(dependencies, options);
  const { heldNow = NOBODY_ASKED } = options;
  const holders = createTokenHolders(reads, heldNow);
  const records = createRecordPages(reads, options.sendersOf);
  const runs = runsOf(dependencies, name);
  return async (
    requestedBy: string,
    query: OwnersQueryValues,
    subject: Pick<Filter, 'address' | 'token_id'>,
  ): Promise<z.infer<typeof nftOwnersSchema>> => {
    const { format, normalizeMetadata, media_items } = query;
    const filter = { ...subject, chain: query.chain?.key, format, normalizeMetadata, media_items };
    const page = runs.open({ cursor: query.cursor, limit: query.limit, order: undefined, filter });
    const chain = indexedChain(chains, page.filter.chain, nftTransfers.name);
    const asked = { chain, contract: parseAddress(page.filter.address), requestedBy };
    const place = { tokenId: page.filter.token_id, limit: page.limit, after: placeOf(page) };
    const found = await getOwners(dependencies, { subjects, holders, heldNow }, asked, place);
    const { records: tokens, ...shared } = await records.read(chain, found.owners, { includePrices: false });
    await requestUnreadTokens(database, chain, tokens);
    const next = found.hasNext ? placeBehind(chain, page, found) : null;
    const shown: RecordOptions = {
      ...shared,
      format: page.filter.format,
      normalizeMetadata: page.filter.normalizeMetadata,
      mediaItems: page.filter.media_items,
      collection: 'pictures',
    };
    return {
      ...showSyncState(found),
      page: page.page + 1,
      page_size: page.limit,
      cursor: next === null ? null : runs.next(page, next),
      indexed: showIndexed(found.indexed),
      result: tokens.map((token) => showOwnedNft(token, shown)),
    };
  };
}

function placeOf({ position, upperBound }: OwnersPage): OwnersPlace | null {
  if (position === null) return null;
  return {
    run: position.run,
    upperBound: upperBound ?? 0,
    block: position.block,
    tokenId: position.id,
    owner: position.owner as Address,
  };
}

/** Where the next page begins. */
function placeBehind(chain: Chain, page: OwnersPage, { places, indexed }: OwnersFound) {
  const [newest, last] = [places[0], places.at(-1)];
  if (newest === undefined || last === undefined) return null;
  const upperBound = page.upperBound ?? Math.max(indexed.toBlock ?? 0, newest.block);
  const run = continueRun(chain, placeOf(page), upperBound, places);
  return { position: { block: last.block, id: last.tokenId, owner: last.owner, run }, upperBound };
}
