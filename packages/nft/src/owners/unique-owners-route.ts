import { readKept, showIndexed } from '@chainstead/answers';
import { type Address, parseAddress } from '@chainstead/core';
import {
  type ApiDependencies,
  errorResponses,
  indexedChain,
  limitParameter,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { nftTransfers } from '../transfers/dataset.ts';
import { readCollectionRows } from './collection-statement.ts';
import { type CollectionSubjectsOptions, createCollectionSubjects, requesterOf } from './collection-subjects.ts';
import { uniqueOwnersSchema } from './owners-response.ts';
import { type UniqueOwnerRow, uniqueOwnersStatement } from './unique-owners-statement.ts';

/** `GET /api/v2.2/nft/{address}/unique-owners`: who holds something of a collection, by address (docs/provider-contract.md#unique-owners). */
export function createUniqueOwnersRoute(options: CollectionSubjectsOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, paging } = dependencies;
    const subjects = createCollectionSubjects(dependencies, options);
    const runs = paging.forRoute({
      route: 'collection-unique-owners',
      filter: z.object({ address: z.string(), chain: z.string() }),
      position: z.object({ after: z.string() }),
      defaults: { address: '', chain: 'eth' },
      limitDefault: PAGE_SIZE_DEFAULT,
      orderDefault: 'ASC',
    });
    app.openapi(routeOf(dependencies), async (c) => {
      const query = c.req.valid('query');
      const page = runs.open({
        cursor: query.cursor,
        limit: query.limit,
        order: undefined,
        filter: { address: c.req.valid('param').address, chain: query.chain?.key },
      });
      const { filter, position } = page;
      const chain = indexedChain(chains, filter.chain, nftTransfers.name);
      const contract = parseAddress(filter.address);
      const asked = { chain, contract, requestedBy: requesterOf(c) };
      const collection = await subjects.open(asked);
      const statement = uniqueOwnersStatement(chain, {
        contract,
        limit: page.limit,
        after: position === null ? null : (position.after as Address),
      });
      const found = await readKept(dependencies, (from) => readCollectionRows<UniqueOwnerRow>(from, chain, statement));
      const { indexed } = await subjects.stateOf(asked, collection, found);
      const shown = found.rows.slice(0, page.limit);
      const last = shown.at(-1);
      return c.json(
        {
          page: page.page + 1,
          pageSize: page.limit,
          cursor:
            found.rows.length > page.limit && last !== undefined
              ? runs.next(page, { position: { after: last.owner }, upperBound: indexed.toBlock ?? 0 })
              : null,
          indexed: showIndexed(indexed),
          walletAddresses: shown.map(({ owner }) => owner),
        },
        200,
      );
    });
  };
}

const PAGE_SIZE_DEFAULT = 100;
/** Addresses are short: pages may be longer than the server's others. */
const PAGE_SIZE_MAX = 5_000;

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/unique-owners',
    operationId: 'getUniqueOwnersByCollection',
    tags: ['NFT'],
    summary: 'The owners of a collection',
    description: 'Addresses that hold at least one NFT of the collection, ascending, each once.',
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        limit: limitParameter(PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX),
        cursor: parameters.cursor,
      }),
    },
    responses: {
      200: { description: 'A page of owners', content: { 'application/json': { schema: uniqueOwnersSchema } } },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}
