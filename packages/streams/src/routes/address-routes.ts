import { type Address, parseAddress } from '@chainstead/core';
import {
  type ApiContext,
  type ApiDependencies,
  type AuditActor,
  apiActorOf,
  errorResponses,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { type AddressChange, createStreamAddressStore } from '../records/stream-addresses.ts';
import type { StreamServices } from '../stream-services.ts';
import { ADDRESSES_MAX, givenAddresses } from './given-addresses.ts';
import { idParameters, limitParameter, openPage } from './list-parameters.ts';
import { notFound } from './stream-errors.ts';
import { ADDRESSES_BOUNDS, answer, jsonBody, pageSchema } from './stream-response.ts';
import { refuseInvalid } from './validation-failed.ts';

const TAGS = ['Streams'];
const PATH = '/streams/evm/{id}/address';

/** `GET`, `POST`, `PATCH` and `DELETE /streams/evm/{id}/address` (docs/provider-contract.md#stream-routes). */
export function streamAddressRoutes({ bounds }: StreamServices): RouteModule {
  return (app, dependencies) => {
    const store = createStreamAddressStore(dependencies.database, bounds);
    const pages = dependencies.paging.forRoute({
      route: 'stream-addresses',
      filter: z.object({ id: z.string() }),
      position: z.string(),
      defaults: { id: '' },
      limitDefault: 1,
    });
    app.openapi(
      list(dependencies),
      async (c) => {
        const { limit, cursor: given } = c.req.valid('query');
        const filter = c.req.valid('param');
        const page = openPage(() => pages.open({ cursor: given, limit, order: undefined, filter }));
        const after = page.position === null ? null : parseAddress(page.position);
        const found = await store.list(filter.id, after, limit);
        if (found === null) throw notFound('Stream');
        const { addresses, next, total } = found;
        const cursor = next === null ? undefined : pages.next(page, { position: next, upperBound: 0 });
        return c.json({ result: addresses.map((address) => ({ address })), cursor, total }, 200);
      },
      refuseInvalid,
    );
    const change = async (
      c: ApiContext,
      streamId: string,
      given: string | readonly string[],
      apply: (streamId: string, addresses: readonly Address[], by: AuditActor) => Promise<AddressChange | 'none'>,
    ) => {
      const outcome = await apply(streamId, givenAddresses(given, 'address'), apiActorOf(c));
      if (outcome === 'no-stream') throw notFound('Stream');
      if (outcome === 'none') throw notFound('Address');
      return { streamId, address: lowerCase(given) };
    };
    app.openapi(
      add,
      async (c) => c.json(await change(c, c.req.valid('param').id, c.req.valid('json').address, store.add), 200),
      refuseInvalid,
    );
    app.openapi(
      replace,
      async (c) => c.json(await change(c, c.req.valid('param').id, c.req.valid('json').address, store.replace), 200),
      refuseInvalid,
    );
    app.openapi(
      remove,
      async (c) => c.json(await change(c, c.req.valid('param').id, c.req.valid('json').address, store.remove), 200),
      refuseInvalid,
    );
  };
}

/** In the shape that it was given in. */
function lowerCase(given: string | readonly string[]): string | readonly string[] {
  return typeof given === 'string' ? given.toLowerCase() : given.map((address) => address.toLowerCase());
}

/** One address, or a list of them; whether they are addresses is told in the provider's words, by the handler. */
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
    .openapi({ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, maxItems: ADDRESSES_MAX }] });
}

const changed = z
  .object({ streamId: z.uuid(), address: z.union([z.string(), z.array(z.string()).readonly()]) })
  .openapi('StreamAddresses');

function list({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: PATH,
    operationId: 'GetAddresses',
    tags: TAGS,
    summary: 'Get the addresses of a stream',
    request: { params: idParameters, query: querySchema({ limit: limitParameter, cursor: parameters.cursor }) },
    responses: {
      200: answer('A page of addresses, ascending', pageSchema(z.object({ address: z.string() }))),
      ...errorResponses(400, 401, 404, 500, 503),
    },
  });
}

const responses = {
  200: answer('The stream and the addresses that were given', changed),
  ...errorResponses(400, 401, 404, 413, 500, 503),
};

const add = createRoute({
  method: 'post',
  path: PATH,
  operationId: 'AddAddressToStream',
  tags: TAGS,
  summary: 'Add addresses to a stream',
  description: 'Effective from the next block on. Addresses that the stream has already stay as they are.',
  request: { params: idParameters, body: jsonBody(z.strictObject({ address: addressMember(1) })) },
  ...ADDRESSES_BOUNDS,
  responses,
});

const replace = createRoute({
  method: 'patch',
  path: PATH,
  operationId: 'ReplaceAddressFromStream',
  tags: TAGS,
  summary: 'Replace the addresses of a stream',
  description: 'The stream has these addresses and no others afterwards; an empty list removes them all.',
  request: { params: idParameters, body: jsonBody(z.strictObject({ address: addressMember(0) })) },
  ...ADDRESSES_BOUNDS,
  responses,
});

const remove = createRoute({
  method: 'delete',
  path: PATH,
  operationId: 'DeleteAddressFromStream',
  tags: TAGS,
  summary: 'Delete addresses from a stream',
  description: '404 when the stream has none of them.',
  request: { params: idParameters, body: jsonBody(z.strictObject({ address: addressMember(1) })) },
  ...ADDRESSES_BOUNDS,
  responses,
});
