import type { Chain } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { ReadingSources } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { changeRunSchema, continueRun } from '../records/change-pages.ts';
import { recordParameters } from '../records/record-parameters.ts';
import { ownedNftView } from '../records/record-response.ts';
import { requestUnreadTokens } from '../records/request-unread-tokens.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import {
  COLLECTION_SYNC,
  type CollectionServices,
  defineListRoute,
  type RequestedCollection,
} from './collection-subjects.ts';
import { getOwners, type NftOwnersPlace, type OwnersFound } from './owners-statement.ts';

const SYNC_TEXT =
  'The status is SYNCING while blocks of the collection are missing; the first request starts their backfill.';

const OWNERS = {
  tag: 'NFTs',
  query: ['chain', recordParameters({ normalizeMetadata: false }), 'limit', 'cursor'],
  name: 'NftOwners',
  response: 'A page of NFT owners',
  datasets: [nftTransfers.name],
  position: z.object({
    block: z.int(),
    tokenId: z.string(),
    owner: z.string().transform(parseAddress),
    run: changeRunSchema,
    upperBound: z.int(),
  }),
  firstPage: 1,
  view: ownedNftView,
} as const;

/** docs/api/nfts.md#nft-owners */
export const collectionOwnersRoute = defineListRoute({
  ...OWNERS,
  path: '/api/v2.2/nft/{address}/owners',
  operationId: 'getNFTOwners',
  summary: 'List NFTs of a collection with their owners',
  description: `Token IDs of a collection with their owners, newest change first. ${SYNC_TEXT}`,
  params: ['address'],
  read: (given) => readOwners(given, null),
  row: (record, page, given) => [record, page, given],
  fields: (standard) => ({ ...COLLECTION_SYNC, ...standard }),
});

export const tokenOwnersRoute = defineListRoute({
  ...OWNERS,
  path: '/api/v2.2/nft/{address}/{token_id}/owners',
  operationId: 'getNFTTokenIdOwners',
  summary: 'List owners of an NFT',
  description: `Owners of one token ID, newest change first. ${SYNC_TEXT}`,
  params: ['address', { token_id: 'tokenId' }],
  read: ({ token_id: tokenId, ...given }) => readOwners(given, tokenId),
  row: (record, page, given) => [record, page, given],
  fields: (standard) => ({ ...COLLECTION_SYNC, ...standard }),
});

interface RequestedOwners extends RequestedCollection, ReadingSources {
  readonly database: Database;
  readonly services: CollectionServices;
  readonly query: { readonly limit: number; readonly after: NftOwnersPlace | null };
}

async function readOwners(given: RequestedOwners, tokenId: string | null) {
  const { services, database, chain, query } = given;
  const found = await getOwners(given, services, given, { ...query, tokenId });
  const shown = await services.records.read(chain, found.owners, { includePrices: false });
  await requestUnreadTokens(database, chain, shown.rows);
  const next = found.hasNext ? placeBehind(chain, query.after, found) : null;
  return { ...shown, state: found, indexed: found.indexed, next };
}

function placeBehind(chain: Chain, after: NftOwnersPlace | null, { places, indexed }: OwnersFound) {
  const [newest, last] = [places[0], places.at(-1)];
  if (newest === undefined || last === undefined) return null;
  const { block, tokenId, owner } = last;
  const upperBound = after?.upperBound ?? Math.max(indexed.toBlock ?? 0, newest.block);
  const run = continueRun(chain, after, upperBound, places);
  return { position: { block, tokenId, owner, run, upperBound }, upperBound };
}
