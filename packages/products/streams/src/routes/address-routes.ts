import { parseAddress } from '@chainstead/core';
import { apiActorOf, definePagedRoute, querySchema, type RouteModule } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { createStreamAddressStore } from '../records/stream-addresses.ts';
import type { StreamServices } from '../stream-services.ts';
import { defineStreamRoute } from './define-stream-route.ts';
import { ADDRESSES_MAX, givenAddresses } from './given-addresses.ts';
import { idParameter, limitParameter, listPage, pageBody, STREAM_LIST } from './list-parameters.ts';
import { notFound } from './stream-errors.ts';
import { ADDRESSES_BOUNDS, pageSchema } from './stream-response.ts';

const TAGS = ['Streams'];
const PATH = '/streams/evm/{id}/address';

/** docs/api/streams-reference.md#stream-routes */
export function streamAddressRoutes({ bounds }: StreamServices): RouteModule {
  return (app, dependencies) => {
    const store = createStreamAddressStore(dependencies.database, bounds);
    definePagedRoute(app, dependencies, {
      ...STREAM_LIST,
      path: PATH,
      operationId: 'GetAddresses',
      tags: TAGS,
      summary: 'List the addresses of a stream',
      params: z.object({ id: idParameter() }),
      query: querySchema({ limit: limitParameter, cursor: dependencies.parameters.cursor }),
      response: {
        description: 'A page of addresses in ascending order',
        schema: pageSchema(z.object({ address: z.string() })),
      },
      errors: [400, 401, 404, 500, 503],
      cursorName: 'stream-addresses',
      filter: z.object({ id: z.string() }),
      filterOf: ({ id }) => ({ id }),
      position: z.string(),
      read: async ({ filter, limit, position }) => {
        const page = await store.list(filter.id, position === null ? null : parseAddress(position), limit);
        if (page === null) throw notFound('Stream');
        return listPage(page.addresses, page.next, page.total);
      },
      present: ({ items, total }, envelope) => {
        const addresses = items.map((address) => ({ address }));
        return pageBody(addresses, envelope, total);
      },
    });
    for (const { operation, itemsMin, ...documented } of CHANGES)
      defineStreamRoute(app, dependencies, {
        ...documented,
        path: PATH,
        tags: TAGS,
        params: { id: idParameter() },
        body: z.strictObject({ address: addressMember(itemsMin) }),
        bodyBounds: ADDRESSES_BOUNDS,
        response: { description: 'The stream and the addresses of the request', schema: changedSchema },
        errors: [404, 413],
        async answer({ id: streamId, body: { address }, c }) {
          const outcome = await store[operation](streamId, givenAddresses(address, 'address'), apiActorOf(c));
          if (outcome === 'no-stream') throw notFound('Stream');
          if (outcome === 'none') throw notFound('Address');
          const lower =
            typeof address === 'string' ? address.toLowerCase() : address.map((text) => text.toLowerCase());
          return { streamId, address: lower };
        },
      });
  };
}

const changedSchema = z
  .object({ streamId: z.uuid(), address: z.union([z.string(), z.array(z.string()).readonly()]) })
  .openapi('StreamAddresses');

const CHANGES = [
  {
    operation: 'add',
    method: 'post',
    operationId: 'AddAddressToStream',
    itemsMin: 1,
    summary: 'Add addresses to a stream',
    description: 'Takes effect from the next block. Addresses that the stream already has are ignored.',
  },
  {
    operation: 'replace',
    method: 'patch',
    operationId: 'ReplaceAddressFromStream',
    itemsMin: 0,
    summary: 'Replace the addresses of a stream',
    description: 'Replaces all addresses of the stream. An empty list removes all of them.',
  },
  {
    operation: 'remove',
    method: 'delete',
    operationId: 'DeleteAddressFromStream',
    itemsMin: 1,
    summary: 'Delete addresses from a stream',
    description: 'Returns 404 if the stream has none of the addresses.',
  },
] as const;

function addressMember(itemsMin: number) {
  return z
    .unknown()
    .transform((given, ctx): string | readonly string[] => {
      if (typeof given === 'string') return given;
      const refuse = (message: string): never => {
        ctx.addIssue({ code: 'custom', message });
        return z.NEVER;
      };
      if (given === undefined) return refuse("'address' is required");
      if (!Array.isArray(given)) return refuse('must be an address or an array of addresses');
      if (given.length > ADDRESSES_MAX) return refuse(`maxItems ${ADDRESSES_MAX}`);
      if (given.length < itemsMin) return refuse(`minItems ${itemsMin}`);
      return given;
    })
    .openapi({
      anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, maxItems: ADDRESSES_MAX }],
      example: '0xd8da6bf26964af9d7eed9e03e53415d37aa96045',
    });
}
