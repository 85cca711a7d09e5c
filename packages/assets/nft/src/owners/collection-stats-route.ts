import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { addressBytes, hexText, type Sql, sql, where } from '@chainstead/db';
import { defineListRoute, defineRoute, limitParameter, querySchema, type RouteModule } from '@chainstead/http';
import { readBuilt, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { nftTransfers } from '../transfers/dataset.ts';
import {
  type CollectionStats,
  type CollectionSubjectsOptions,
  collectionStatement,
  collectionStatsStatement,
  createCollectionSubjects,
  readCollectionRows,
} from './collection-subjects.ts';
import { collectionStatsSchema, uniqueOwnersSchema } from './owners-response.ts';

/** docs/api/nfts.md#collection-statistics */
export function createCollectionStatsRoute(options: CollectionSubjectsOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    const subjects = createCollectionSubjects(dependencies, options);
    defineRoute(app, dependencies, {
      path: '/api/v2.2/nft/{address}/stats',
      operationId: 'getNFTCollectionStats',
      tags: ['NFTs'],
      summary: 'Get statistics of an NFT collection',
      description: 'Number of held token IDs, owners and transfers of a collection.',
      params: { address: parameters.address },
      query: { chain: parameters.chain },
      datasets: [nftTransfers.name],
      response: { description: 'The collection statistics', schema: collectionStatsSchema },
      async answer({ address: contract, chain, requester }) {
        const requested = { chain, contract, requestedBy: requester };
        const collection = await subjects.open(requested);
        const statement = collectionStatsStatement(chain, contract);
        const stored = await readBuilt(dependencies, (from) =>
          readCollectionRows<CollectionStats>(from, chain, statement),
        );
        const { indexed } = await subjects.stateOf(requested, collection, stored);
        const [counts] = stored.rows;
        return {
          total_tokens: counts?.ids ?? '0',
          owners: { current: counts?.owners ?? '0' },
          transfers: { total: counts?.transfers ?? '0' },
          indexed: showIndexed(indexed),
        };
      },
    });
  };
}

const PAGE_SIZE_DEFAULT = 100;
/** Addresses are short. */
const PAGE_SIZE_MAX = 5_000;

/** docs/api/nfts.md#unique-owners */
export function createUniqueOwnersRoute(options: CollectionSubjectsOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    const subjects = createCollectionSubjects(dependencies, options);
    defineListRoute(app, dependencies, {
      path: '/api/v2.2/nft/{address}/unique-owners',
      operationId: 'getUniqueOwnersByCollection',
      tags: ['NFTs'],
      summary: 'List unique owners of an NFT collection',
      description: 'Addresses that own at least one NFT of the collection, in ascending order, each once.',
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        limit: limitParameter(PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX),
        cursor: parameters.cursor,
      }),
      response: { description: 'A page of NFT owners', schema: uniqueOwnersSchema },
      datasets: [nftTransfers.name],
      cursorName: 'collection-unique-owners',
      filter: z.object({ address: z.string(), chain: z.string().default('eth') }),
      filterOf: ({ address, chain }) => ({ address, chain: chain?.key }),
      position: z.object({ after: z.string() }),
      limitDefault: PAGE_SIZE_DEFAULT,
      orderDefault: 'ASC',
      firstPage: 1,
      read: async ({ chain, filter, limit, position, requester }) => {
        const requested = { chain, contract: parseAddress(filter.address), requestedBy: requester };
        const collection = await subjects.open(requested);
        const after = position && (position.after as Address);
        const statement = uniqueOwnersStatement(chain, { contract: requested.contract, limit, after });
        const stored = await readBuilt(dependencies, (from) =>
          readCollectionRows<{ readonly owner: Address }>(from, chain, statement),
        );
        const { indexed } = await subjects.stateOf(requested, collection, stored);
        const owners = stored.rows.slice(0, limit).map(({ owner }) => owner);
        const last = stored.rows.length > limit ? owners.at(-1) : undefined;
        return { indexed, owners, next: last && { position: { after: last }, upperBound: indexed.toBlock ?? 0 } };
      },
      present: ({ indexed, owners }, { page, page_size: pageSize, cursor }) => ({
        ...{ page, pageSize, cursor },
        indexed: showIndexed(indexed),
        walletAddresses: owners,
      }),
    });
  };
}

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
