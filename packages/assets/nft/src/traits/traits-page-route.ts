import { parseAddress } from '@chainstead/core';
import { defineListRoute, InvalidParameterError, querySchema, type RouteModule } from '@chainstead/http';
import { showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { nftTransfers } from '../transfers/dataset.ts';
import { createRequestedTraits, type RequestedTraitsOptions } from './requested-traits.ts';
import { showTrait, TRAITS_PENDING, traitsPageSchema } from './traits-response.ts';
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
