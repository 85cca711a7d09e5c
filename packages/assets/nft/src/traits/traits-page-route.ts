import { parseAddress } from '@chainstead/core';
import {
  defineListRoute,
  defineRoute,
  InvalidParameterError,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { indexedSchema, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { contractNftsSchema } from '../owners/owners-response.ts';
import { traitFigures } from '../records/rarity-figures.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { createRequestedTraits, NOT_READY, type RequestedTraitsOptions } from './requested-traits.ts';
import { type StoredTrait, traitListStatement } from './traits-statement.ts';

/** docs/api/nfts.md#traits */
export function createTraitsPageRoute(options: RequestedTraitsOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    const traits = createRequestedTraits(dependencies, options);
    defineListRoute(app, dependencies, {
      path: '/api/v2.2/nft/{address}/traits/paginate',
      operationId: 'getNFTTraitsByCollectionPaginate',
      tags: ['NFTs'],
      summary: 'List traits of an NFT collection in pages',
      description:
        'Traits of a collection, ordered by the number of NFTs with each. The first request starts reading the metadata: returns 202 until it is complete. A cursor expires when the traits are recomputed. Limited to collections of up to 50,000 NFTs.',
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        limit: parameters.limit,
        cursor: parameters.cursor,
        order: parameters.order.openapi({ description: 'Sort order by count, then by type and value.' }),
      }),
      response: { description: 'A page of traits', schema: traitsPageSchema },
      pending: TRAITS_PENDING,
      errors: [404],
      datasets: [nftTransfers.name],
      cursorName: 'collection-traits',
      filter: z.object({ address: z.string(), chain: z.string().default('eth') }),
      filterOf: ({ address, chain }) => ({ address, chain: chain?.key }),
      position: z.object({ generation: z.int(), place: z.int() }),
      firstPage: 1,
      read: async ({ chain, filter, given, limit, order, position, requester }) => {
        const contract = parseAddress(filter.address);
        const after = position?.place ?? null;
        const statement = traitListStatement(chain, { contract, limit, order, after });
        const page = await traits.read<StoredTrait>({ chain, contract, requester }, statement);
        if (position !== null && position.generation !== (page?.generation ?? null))
          throw computedAgain(given.cursor);
        if (page === null) return null;
        const { generation, indexed, tokens } = page;
        const rows = page.rows.slice(0, limit);
        const last = page.rows.length > limit ? rows.at(-1) : undefined;
        const next =
          last === undefined || generation === null
            ? null
            : { position: { generation, place: last.place }, upperBound: indexed.toBlock ?? 0 };
        return { indexed, rows, tokens, next };
      },
      present: ({ indexed, rows, tokens }, envelope) => ({
        ...envelope,
        indexed: showIndexed(indexed),
        result: rows.map((row) => showTrait(row, tokens)),
      }),
    });
  };
}

function computedAgain(cursor: string | undefined): InvalidParameterError {
  return new InvalidParameterError({
    parameter: 'cursor',
    given: cursor,
    message: 'cursor is of traits that have been computed again since: begin with the first page',
  });
}

const TRAITS_MAX = 5_000;

/** docs/api/nfts.md#traits */
export function createTraitsRoute(options: RequestedTraitsOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    const traits = createRequestedTraits(dependencies, options);
    defineRoute(app, dependencies, {
      path: '/api/v2.2/nft/{address}/traits',
      operationId: 'getNFTTraitsByCollection',
      tags: ['NFTs'],
      summary: 'Get traits of an NFT collection',
      description:
        'Traits of a collection by type, with the number of NFTs per value. The first request starts reading the metadata: returns 202 until it is complete. Limited to collections of up to 50,000 NFTs and the 5,000 most frequent traits; the paged route returns all traits.',
      params: { address: parameters.address },
      query: { chain: parameters.chain },
      datasets: [nftTransfers.name],
      response: { description: 'The traits', schema: traitsSchema },
      otherResponses: NOT_READY_RESPONSE,
      errors: [404],
      async answer({ address: contract, chain, requester, c }) {
        const statement = traitListStatement(chain, { contract, limit: TRAITS_MAX, order: 'DESC', after: null });
        const list = await traits.read<StoredTrait>({ chain, contract, requester }, statement);
        if (list === null) return c.json(NOT_READY, 202);
        const isAll = list.rows.length <= TRAITS_MAX;
        const indexed = showIndexed({ ...list.indexed, complete: list.indexed.complete && isAll });
        return { traits: groupTraits(list.rows.slice(0, TRAITS_MAX), list.tokens), indexed };
      },
    });
  };
}

const figures = {
  count: z
    .int()
    .min(1)
    .openapi({ description: 'Number of NFTs in the collection with this trait', example: 1_242 }),
  percentage: z.number().openapi({ description: 'Percentage of the collection, two decimals', example: 12.42 }),
  rarity_label: z.string().openapi({ example: 'Top 13% trait' }),
};
const traitType = z
  .string()
  .openapi({ description: 'Empty if the metadata contains none', example: 'Background' });

/** docs/api/nfts.md#traits */
const traitsSchema = z
  .object({
    traits: z.array(
      z
        .object({
          trait_type: traitType,
          values: z.array(
            z
              .object({ trait_value: z.string().openapi({ example: 'Blue' }), ...figures })
              .openapi('NftTraitValue'),
          ),
        })
        .openapi('NftTraitType'),
    ),
    indexed: indexedSchema,
  })
  .openapi('NftTraits');

const traitSchema = z
  .object({ trait_type: traitType, trait_value: z.string().openapi({ example: 'Blue' }), ...figures })
  .openapi('NftTrait');

const traitsPageSchema = z
  .object({
    page: z.int().min(1).openapi({ description: 'Page number, from 1' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(traitSchema),
  })
  .openapi('NftTraitsPage');

export const nftsByTraitsSchema = contractNftsSchema;

const notReadySchema = z.object({ message: z.string() }).openapi('NftTraitsNotReady');

export const TRAITS_PENDING = {
  description: 'The traits are being computed. Retry later',
  schema: notReadySchema,
  body: NOT_READY,
};

const NOT_READY_RESPONSE = {
  202: {
    description: TRAITS_PENDING.description,
    content: { 'application/json': { schema: notReadySchema, example: NOT_READY } },
  },
};

function showTrait({ traitType, traitValue, count }: StoredTrait, tokens: number): z.infer<typeof traitSchema> {
  return { trait_type: traitType, trait_value: traitValue, ...traitFigures(count, tokens) };
}

function groupTraits(rows: readonly StoredTrait[], tokens: number): z.infer<typeof traitsSchema>['traits'] {
  return [...Map.groupBy(rows, ({ traitType }) => traitType)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([trait_type, traits]) => ({
      trait_type,
      values: traits.map(({ traitValue, count }) => ({
        trait_value: traitValue,
        ...traitFigures(count, tokens),
      })),
    }));
}
