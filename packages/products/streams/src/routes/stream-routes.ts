import type { Chain } from '@chainstead/chains';
import type { ChainId } from '@chainstead/core';
import { apiActorOf, definePagedRoute, errorResponses, querySchema, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { createDescribeStreams } from '../contracts/describe-streams.ts';
import { createStreamStore } from '../records/stream-store.ts';
import type { Stream } from '../stream.ts';
import type { StreamServices } from '../stream-services.ts';
import { checkStream } from './check-stream.ts';
import { createRequireContracts } from './contract-check.ts';
import { idParameters, limitParameter, listPage, pageBody, STREAM_LIST } from './list-parameters.ts';
import { changedConfig, type GivenConfig, newConfig } from './stream-config.ts';
import { notFound } from './stream-errors.ts';
import {
  answer,
  CONFIG_BOUNDS,
  jsonBody,
  pageSchema,
  showStream,
  statusSchema,
  streamResponse,
  streamSchema,
} from './stream-response.ts';
import { type StreamChains, streamMembers } from './stream-schema.ts';
import { requireTraces } from './trace-check.ts';
import { refuseInvalid } from './validation-failed.ts';
import { requireWebhook } from './webhook-check.ts';

const TAGS = ['Streams'];

export function streamChains(
  { chains }: { readonly chains: Pick<StreamChains, 'find'> },
  followed: readonly Chain[],
): StreamChains {
  const ids = new Set<number>(followed.map(({ id }) => id));
  return { find: (id) => chains.find(id), isFollowed: ({ id }) => ids.has(id) };
}

/** docs/api/streams-reference.md#stream-routes */
export function streamListRoutes(services: StreamServices): RouteModule {
  return (app, dependencies) => {
    const store = createStreamStore(dependencies.database, services.bounds);
    const requireContracts = createRequireContracts(dependencies.database);
    const describe = createDescribeStreams(dependencies.database);
    const chainOf = (id: ChainId) => dependencies.chains.find(String(id));
    const { parameters } = dependencies;
    definePagedRoute(app, dependencies, {
      ...STREAM_LIST,
      path: '/streams/evm',
      operationId: 'GetStreams',
      tags: TAGS,
      summary: 'List streams',
      description: 'Newest first.',
      query: querySchema({ limit: limitParameter, cursor: parameters.cursor, status: statusSchema.optional() }),
      response: { description: 'A page of streams', schema: pageSchema(streamSchema) },
      errors: [400, 401, 500, 503],
      cursorName: 'streams',
      filter: z.object({ status: z.string().nullable().default(null) }),
      filterOf: ({ status }) => ({ status }),
      position: z.tuple([z.string(), z.string()]),
      read: async ({ filter, limit, position }) => {
        const status = statusSchema.nullable().parse(filter.status);
        const { streams, next, total } = await store.list({ status, after: position, limit });
        return listPage(await describe(streams), next && ([...next] satisfies [string, string]), total);
      },
      present: ({ items, total }, envelope) => pageBody(items.map(streamResponse), envelope, total),
    });
    app.openapi(
      create(streamChains(dependencies, services.chains)),
      async (c) => {
        const config = newConfig(c.req.valid('json'));
        checkStream(config, chainOf);
        await requireContracts(config, chainOf);
        await requireTraces(services.offersTraces, config, chainOf);
        const by = apiActorOf(c);
        await requireWebhook(services, config, by.id);
        return c.json(await showStream(describe, await store.create(config, by)), 200);
      },
      refuseInvalid,
    );
  };
}

export function streamRoutes(services: StreamServices): RouteModule {
  return (app, dependencies) => {
    const store = createStreamStore(dependencies.database, services.bounds);
    const requireContracts = createRequireContracts(dependencies.database);
    const describe = createDescribeStreams(dependencies.database);
    const chainOf = (id: ChainId) => dependencies.chains.find(String(id));
    app.openapi(
      getOne,
      async (c) => c.json(await showStream(describe, existing(await store.get(c.req.valid('param').id))), 200),
      refuseInvalid,
    );
    app.openapi(
      update(streamChains(dependencies, services.chains)),
      async (c) => {
        const { id } = c.req.valid('param');
        const given: GivenConfig = c.req.valid('json');
        const changed = (current: Stream) => {
          const config = changedConfig(current, given);
          checkStream(config, chainOf);
          return config;
        };
        const current = existing(await store.get(id));
        const wanted = changed(current);
        await requireContracts(wanted, chainOf, current.contracts);
        await requireTraces(services.offersTraces, wanted, chainOf);
        const by = apiActorOf(c);
        await requireWebhook(services, wanted, by.id);
        // Checked again under the lock: another update may have happened.
        return c.json(await showStream(describe, existing(await store.update(id, changed, by))), 200);
      },
      refuseInvalid,
    );
    app.openapi(
      remove,
      async (c) => {
        const removed = await store.remove(c.req.valid('param').id, apiActorOf(c));
        return c.json(streamResponse(existing(removed)), 200);
      },
      refuseInvalid,
    );
    app.openapi(
      duplicate,
      async (c) => {
        const { id } = c.req.valid('param');
        const by = apiActorOf(c);
        await requireWebhook(services, existing(await store.get(id)), by.id);
        return c.json(await showStream(describe, existing(await store.duplicate(id, by))), 200);
      },
      refuseInvalid,
    );
  };
}

export function existing(stream: Stream | null): Stream {
  if (stream === null) throw notFound('Stream');
  return stream;
}

function create(chains: StreamChains) {
  return createRoute({
    method: 'put',
    path: '/streams/evm',
    operationId: 'CreateStream',
    tags: TAGS,
    summary: 'Create a stream',
    description:
      'A test webhook must return 2xx first. If a stream with the same configuration exists, returns it instead of a second one.',
    request: { body: jsonBody(z.strictObject(streamMembers(chains))) },
    ...CONFIG_BOUNDS,
    responses: { 200: answer('The stream', streamSchema), ...errorResponses(400, 401, 413, 429, 500, 503) },
  });
}

const getOne = createRoute({
  method: 'get',
  path: '/streams/evm/{id}',
  operationId: 'GetStream',
  tags: TAGS,
  summary: 'Get a stream',
  request: { params: idParameters },
  responses: { 200: answer('The stream', streamSchema), ...errorResponses(400, 401, 404, 500, 503) },
});

function update(chains: StreamChains) {
  return createRoute({
    method: 'post',
    path: '/streams/evm/{id}',
    operationId: 'UpdateStream',
    tags: TAGS,
    summary: 'Update a stream',
    description: 'Omitted members are unchanged; null clears a member. A test webhook must return 2xx first.',
    request: { params: idParameters, body: jsonBody(z.strictObject(streamMembers(chains)).partial()) },
    ...CONFIG_BOUNDS,
    responses: { 200: answer('The stream', streamSchema), ...errorResponses(400, 401, 404, 413, 429, 500, 503) },
  });
}

const remove = createRoute({
  method: 'delete',
  path: '/streams/evm/{id}',
  operationId: 'DeleteStream',
  tags: TAGS,
  summary: 'Delete a stream',
  description: 'Waiting webhooks are dropped. The history of the stream stays available.',
  request: { params: idParameters },
  responses: { 200: answer('The deleted stream', streamSchema), ...errorResponses(400, 401, 404, 500, 503) },
});

const duplicate = createRoute({
  method: 'post',
  path: '/streams/evm/{id}/duplicate',
  operationId: 'DuplicateStream',
  tags: TAGS,
  summary: 'Duplicate a stream',
  description: 'Copies the stream with its addresses. A test webhook must return 2xx first. The duplicate is active.',
  request: { params: idParameters },
  responses: { 200: answer('The new stream', streamSchema), ...errorResponses(400, 401, 404, 429, 500, 503) },
});
