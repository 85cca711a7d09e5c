import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { addressBytes, hexText, type Sql, sql, where } from '@chainstead/db';
import { type Indexed, indexedBlocks, inside, limitParameter, view, wire } from '@chainstead/http';
import { readBuilt } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { nftTransfers } from '../transfers/dataset.ts';
import {
  type CollectionStats,
  collectionStatement,
  collectionStatsStatement,
  defineListRoute,
  defineRoute,
  readCollectionRows,
} from './collection-subjects.ts';

const digits = wire.wire(z.string().openapi({ pattern: '^[0-9]+$' }));
const ownersView = view(null, (current: string) => ({ current }), {
  current: digits('Number of addresses that own at least one NFT'),
});
const transfersView = view(null, (total: string) => ({ total }), {
  total: digits('Number of transfers. Each token ID of a batch counts'),
});

const statsView = view(
  'NftCollectionStats',
  (counts: CollectionStats | undefined, indexed: Indexed) => ({ counts, indexed }),
  {
    total_tokens: digits('Number of token IDs with at least one owner', ({ counts }) => counts?.ids ?? '0'),
    owners: inside(ownersView)(({ counts }) => counts?.owners ?? '0'),
    transfers: inside(transfersView)(({ counts }) => counts?.transfers ?? '0'),
    indexed: indexedBlocks(),
  },
);

/** docs/api/nfts.md#collection-statistics */
export const collectionStatsRoute = defineRoute({
  path: '/api/v2.2/nft/{address}/stats',
  operationId: 'getNFTCollectionStats',
  tag: 'NFTs',
  summary: 'Get statistics of an NFT collection',
  description: 'Number of held token IDs, owners and transfers of a collection.',
  params: ['address'],
  query: ['chain'],
  datasets: [nftTransfers.name],
  response: { description: 'The collection statistics', schema: statsView.schema },
  async answer({ services: { subjects }, ...given }) {
    const { chain, address } = given;
    const collection = await subjects.open(given);
    const statement = collectionStatsStatement(chain, address);
    const stored = await readBuilt(given, (from) => readCollectionRows<CollectionStats>(from, chain, statement));
    const { indexed } = await subjects.stateOf(given, collection, stored);
    return statsView.show(stored.rows[0], indexed);
  },
});

const PAGE_SIZE_DEFAULT = 100;
/** Addresses are short. */
const PAGE_SIZE_MAX = 5_000;

const ownerAddress = wire.address<Address>((owner) => owner);

/** docs/api/nfts.md#unique-owners */
export const uniqueOwnersRoute = defineListRoute({
  path: '/api/v2.2/nft/{address}/unique-owners',
  operationId: 'getUniqueOwnersByCollection',
  tag: 'NFTs',
  summary: 'List unique owners of an NFT collection',
  description: 'Addresses that own at least one NFT of the collection, in ascending order, each once.',
  params: ['address'],
  query: ['chain', { limit: limitParameter(PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX) }, 'cursor'],
  name: 'UniqueNftOwners',
  response: 'A page of NFT owners',
  datasets: [nftTransfers.name],
  position: z.string().transform(parseAddress),
  limitDefault: PAGE_SIZE_DEFAULT,
  orderDefault: 'ASC',
  firstPage: 1,
  async read({ services: { subjects }, ...given }) {
    const { chain, address: contract, query } = given;
    const { limit, after } = query;
    const collection = await subjects.open(given);
    const statement = uniqueOwnersStatement(chain, { contract, limit, after });
    const stored = await readBuilt(given, (from) =>
      readCollectionRows<{ readonly owner: Address }>(from, chain, statement),
    );
    const { indexed } = await subjects.stateOf(given, collection, stored);
    const rows = stored.rows.slice(0, limit).map(({ owner }) => owner);
    const last = stored.rows.length > limit ? rows.at(-1) : undefined;
    return { indexed, rows, next: last && { position: last, upperBound: indexed.toBlock ?? 0 } };
  },
  view: { schema: ownerAddress.schema, show: ownerAddress.value },
  row: (owner) => [owner],
  fields: ({ page, page_size: pageSize, cursor, indexed, result }) => ({
    page,
    pageSize,
    cursor,
    indexed,
    walletAddresses: result,
  }),
});

/** Without a lower bound and statistics, the planner would sort the whole collection. */
const BEFORE_ALL = Buffer.alloc(0);

export function uniqueOwnersStatement(
  chain: Chain,
  {
    contract,
    limit,
    after,
  }: { readonly contract: Address; readonly limit: number; readonly after: Address | null },
): Sql {
  return collectionStatement(chain, contract, (of) => ({
    columns: sql`${hexText('page.owner')} AS owner`,
    rows: sql`SELECT held.owner FROM nft_collection_owners AS held
  ${where([of('held'), sql`held.owner > ${after === null ? BEFORE_ALL : addressBytes(after)}`])} ORDER BY held.owner LIMIT ${limit + 1}`,
    orderBy: sql`page.owner`,
  }));
}
