import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  type ApiDependencies,
  booleanParameter,
  errorResponses,
  indexedChain,
  NotFoundError,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { getLastSale } from '../sale-prices/get-last-sales.ts';
import { createTradeTables } from '../trades/trade-tables.ts';
import { collectionMetadataSchema, showCollection } from './collection-metadata-response.ts';
import { type Collection, getCollection } from './get-collection.ts';
import type { CreateMetadataRequests, MetadataRequests } from './metadata-requests.ts';
import type { Requester } from './request-metadata.ts';

/**
 * `GET /api/v2.2/nft/{address}/metadata`: a collection's metadata (docs/provider-contract.md#collection-metadata). What is known is answered at once; a
 * contract that nobody asked for yet is left to a worker, and the request waits a moment for it.
 */
export function collectionMetadataRoute(createRequests: CreateMetadataRequests): RouteModule {
  return (app, dependencies) => {
    const { chains, database } = dependencies;
    const requests = createRequests(dependencies);
    const tables = createTradeTables(database);
    app.openapi(routeOf(dependencies), async (c) => {
      const query = c.req.valid('query');
      const { address } = c.req.valid('param');
      const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN);
      const found = await getCollection(database, chain.id, address);
      const collection = isUnread(found)
        ? await readNow(requests, { chain, address, requester: requests.requesterOf(c), found }, () =>
            getCollection(database, chain.id, address),
          )
        : found;
      if (!collection.isNft) throw notFound(chain, address, collection);
      requests.announce(chain, address, requests.requesterOf(c));
      const prices =
        query.include_prices === true
          ? { last_sale: await getLastSale(database, chain, address, await tables()) }
          : null;
      return c.json(showCollection(address, collection, prices), 200);
    });
  };
}

const DEFAULT_CHAIN = 'eth';

/** Whether a worker is to read it: never asked for, being read, refused some time ago, or refused before its events were seen. */
function isUnread({ status, isNft, isRefusalOver }: Collection): boolean {
  if (status === 'not-nft' || status === 'not-contract') return isRefusalOver || isNft;
  return status === null || status === 'pending';
}

async function readNow(
  requests: MetadataRequests,
  asked: {
    readonly chain: Chain;
    readonly address: Address;
    readonly requester: Requester;
    readonly found: Collection;
  },
  again: () => Promise<Collection>,
): Promise<Collection> {
  const { chain, address, requester, found } = asked;
  if (found.status !== 'pending') await requests.collection(chain, address, requester);
  await requests.watch.collection(chain.id, address, requests.waitMs);
  return again();
}

function notFound(chain: Chain, address: Address, collection: Collection): NotFoundError {
  const on = `on ${chain.key}`;
  switch (collection.status) {
    case 'not-contract':
      return new NotFoundError(`${address} is not a contract ${on}`, { status: 'not-contract' });
    case 'not-nft':
      return new NotFoundError(`${address} is not an NFT contract ${on}`, { status: 'not-nft' });
    case 'failed':
      return new NotFoundError(`${address} could not be read ${on} yet: it is tried again by itself`, {
        status: 'failed',
      });
    default:
      return new NotFoundError(`${address} is not indexed ${on} yet: indexing has started, ask again in a moment`, {
        status: 'indexing',
      });
  }
}

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/metadata',
    operationId: 'getNFTContractMetadata',
    tags: ['NFT'],
    summary: "A collection's metadata",
    description:
      'Name, symbol, pictures and links of a collection. A contract that is not known yet is read when it is asked for: the request waits a moment for that, then answers with what is known, or with 404 and the message that indexing has started.',
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        include_prices: booleanParameter({
          default: false,
          description: 'Adds floor prices and the last sale, where they are known.',
        }),
      }),
    },
    responses: {
      200: {
        description: 'The collection; synced_at is null while it has not been read',
        content: { 'application/json': { schema: collectionMetadataSchema } },
      },
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}
