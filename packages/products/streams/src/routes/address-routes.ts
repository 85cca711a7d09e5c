import { type Address, parseAddress } from '@chainstead/core';
import { apiActorOf, view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { createStreamAddressStore } from '../records/stream-addresses.ts';
import {
  defineListRoute,
  defineStreamRoute,
  idParameter,
  limitParameter,
  listPage,
  STREAM_LIST,
} from './define-stream-route.ts';
import { ADDRESSES_MAX, givenAddresses, notFound } from './stream-errors.ts';
import { ADDRESSES_BOUNDS } from './stream-response.ts';

const PATH = {
  path: '/streams/evm/{id}/address',
  tag: 'Streams',
  params: [{ id: idParameter() }],
} as const;

const listAddresses = defineListRoute({
  ...STREAM_LIST,
  ...PATH,
  operationId: 'GetAddresses',
  summary: 'List the addresses of a stream',
  query: [{ limit: limitParameter }, 'cursor'],
  response: 'A page of addresses in ascending order',
  errors: [404],
  position: z.string(),
  async read({ database, id, query: { limit, after } }) {
    const start = after === null ? null : parseAddress(after);
    const page = await createStreamAddressStore(database).list(id, start, limit);
    if (page === null) throw notFound('Stream');
    return listPage(page.addresses, page.next, page.total);
  },
  view: view(null, (address: Address) => ({ address }), { address: wire.text('Address of the stream.') }),
  row: (address) => [address],
});

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

const changedSchema = z
  .object({ streamId: z.uuid(), address: z.union([z.string(), z.array(z.string()).readonly()]) })
  .openapi('StreamAddresses');

/** docs/api/streams-reference.md#stream-routes */
export const streamAddressRoutes = [
  listAddresses,
  ...CHANGES.map(({ operation, itemsMin, ...documented }) =>
    defineStreamRoute({
      ...documented,
      ...PATH,
      body: z.strictObject({ address: addressMember(itemsMin) }),
      bodyBounds: ADDRESSES_BOUNDS,
      response: { description: 'The stream and the addresses of the request', schema: changedSchema },
      errors: [404, 413],
      async answer({ database, services, id: streamId, body: { address }, c }) {
        const store = createStreamAddressStore(database, services.bounds);
        const outcome = await store[operation](streamId, givenAddresses(address, 'address'), apiActorOf(c));
        if (outcome === 'no-stream') throw notFound('Stream');
        if (outcome === 'none') throw notFound('Address');
        const lower =
          typeof address === 'string' ? address.toLowerCase() : address.map((text) => text.toLowerCase());
        return { streamId, address: lower };
      },
    }),
  ),
];

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
