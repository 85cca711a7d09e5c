import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import {
  type ApiApp,
  type ApiDependencies,
  defineListRoute,
  type ListQueryShape,
  type ListRequest,
  type Page,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { showIndexed, showSyncState } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { changeRunSchema, continueRun } from '../records/change-pages.ts';
import { createRecordPages } from '../records/record-pages.ts';
import { recordParameters } from '../records/record-parameters.ts';
import { showOwnedNft } from '../records/record-response.ts';
import { requestUnreadTokens } from '../records/request-unread-tokens.ts';
import { createTokenHolders } from '../single-nfts/token-holders.ts';
import { NOBODY_REQUESTED } from '../token-state/held-readers.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { type CollectionSubjectsOptions, createCollectionSubjects } from './collection-subjects.ts';
import { nftOwnersSchema } from './owners-response.ts';
import { getOwners, type NftOwnersPlace, type OwnersFound } from './owners-statement.ts';

const SYNC_TEXT =
  'The status is SYNCING while blocks of the collection are missing; the first request starts their backfill.';

/** docs/api/nfts.md#nft-owners */
export function createCollectionOwnersRoute(options: CollectionSubjectsOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    addOwnersRoute(app, dependencies, options, {
      path: '/api/v2.2/nft/{address}/owners',
      operationId: 'getNFTOwners',
      summary: 'List NFTs of a collection with their owners',
      description: `Token IDs of a collection with their owners, newest change first. ${SYNC_TEXT}`,
      params: z.object({ address: parameters.address }),
      query: ownersQuery(parameters),
      cursorName: 'collection-owners',
      filterOf: filterOfOwners,
    });
  };
}

export function createTokenOwnersRoute(options: CollectionSubjectsOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    addOwnersRoute(app, dependencies, options, {
      path: '/api/v2.2/nft/{address}/{token_id}/owners',
      operationId: 'getNFTTokenIdOwners',
      summary: 'List owners of an NFT',
      description: `Owners of one token ID, newest change first. ${SYNC_TEXT}`,
      params: z.object({ address: parameters.address, token_id: parameters.tokenId }),
      query: ownersQuery(parameters),
      cursorName: 'token-owners',
      filterOf: ({ token_id, ...parameters }) => ({ token_id, ...filterOfOwners(parameters) }),
    });
  };
}

const filterSchema = z.object({
  address: z.string(),
  token_id: z.string().nullable().default(null),
  chain: z.string().default('eth'),
  format: z.enum(['decimal', 'hex']).default('decimal'),
  normalizeMetadata: z.boolean().default(false),
  media_items: z.boolean().default(false),
});

const positionSchema = z.object({ block: z.int(), id: z.string(), owner: z.string(), run: changeRunSchema });
type OwnersPage = Page<z.infer<typeof filterSchema>, z.infer<typeof positionSchema>>;

function ownersQuery(parameters: ApiDependencies['parameters']) {
  return querySchema({
    chain: parameters.chain,
    ...recordParameters({ normalizeMetadata: false }),
    limit: parameters.limit,
    cursor: parameters.cursor,
  });
}

function filterOfOwners({
  chain,
  cursor: _cursor,
  limit: _limit,
  ...filter
}: { readonly address: Address } & z.infer<ReturnType<typeof ownersQuery>>) {
  return { ...filter, chain: chain?.key };
}

function addOwnersRoute<Params extends z.core.$ZodShape, Query extends ListQueryShape>(
  app: ApiApp,
  dependencies: ApiDependencies,
  options: CollectionSubjectsOptions,
  request: ListRequest<Params, Query, z.infer<typeof filterSchema>>,
): void {
  const { database, reads } = dependencies;
  const subjects = createCollectionSubjects(dependencies, options);
  const { heldNow = NOBODY_REQUESTED } = options;
  const holders = createTokenHolders(reads, heldNow);
  const records = createRecordPages(reads, options.sendersOf);
  defineListRoute(app, dependencies, {
    ...request,
    tags: ['NFTs'],
    response: { description: 'A page of NFT owners', schema: nftOwnersSchema },
    datasets: [nftTransfers.name],
    filter: filterSchema,
    position: positionSchema,
    firstPage: 1,
    read: async ({ chain, requester, ...page }) => {
      const requested = { chain, contract: parseAddress(page.filter.address), requestedBy: requester };
      const query = { tokenId: page.filter.token_id, limit: page.limit, after: placeOf(page) };
      const owners = await getOwners(dependencies, { subjects, holders, heldNow }, requested, query);
      const { records: tokens, ...shared } = await records.read(chain, owners.owners, { includePrices: false });
      await requestUnreadTokens(database, chain, tokens);
      return { owners, tokens, shared, next: owners.hasNext ? placeBehind(chain, page, owners) : null };
    },
    present: ({ owners, tokens, shared }, envelope, { filter }) => ({
      ...showSyncState(owners),
      ...envelope,
      indexed: showIndexed(owners.indexed),
      result: tokens.map((token) =>
        showOwnedNft(token, { ...shared, ...filter, mediaItems: filter.media_items, collection: 'pictures' }),
      ),
    }),
  });
}

function placeOf({ position, upperBound }: OwnersPage): NftOwnersPlace | null {
  if (position === null) return null;
  const { run, block, id, owner } = position;
  return { run, upperBound: upperBound ?? 0, block, tokenId: id, owner: owner as Address };
}

function placeBehind(chain: Chain, page: OwnersPage, { places, indexed }: OwnersFound) {
  const [newest, last] = [places[0], places.at(-1)];
  if (newest === undefined || last === undefined) return null;
  const upperBound = page.upperBound ?? Math.max(indexed.toBlock ?? 0, newest.block);
  const run = continueRun(chain, placeOf(page), upperBound, places);
  return { position: { block: last.block, id: last.tokenId, owner: last.owner, run }, upperBound };
}
