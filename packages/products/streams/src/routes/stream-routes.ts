import type { Chain } from '@chainstead/chains';
import type { ChainId } from '@chainstead/core';
import {
  type ApiApp,
  type ApiDependencies,
  apiActorOf,
  definePagedRoute,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { createDescribeStreams } from '../records/describe-streams.ts';
import { createStreamStore } from '../records/stream-store.ts';
import type { Stream } from '../stream.ts';
import type { StreamServices } from '../stream-services.ts';
import { checkStream } from './check-stream.ts';
import { createRequireContracts } from './contract-check.ts';
import { defineStreamRoute } from './define-stream-route.ts';
import { idParameter, limitParameter, listPage, pageBody, STREAM_LIST } from './list-parameters.ts';
import { changedConfig, newConfig } from './stream-config.ts';
import { notFound } from './stream-errors.ts';
import {
  CONFIG_BOUNDS,
  pageSchema,
  showStream,
  statusSchema,
  streamResponse,
  streamSchema,
} from './stream-response.ts';
import { type StreamChains, streamMembers } from './stream-schema.ts';
import { requireTraces } from './trace-check.ts';
import { requireWebhook } from './webhook-check.ts';

/** docs/api/streams-reference.md#stream-routes */
export function streamRoutes(services: StreamServices): RouteModule {
  return (app, dependencies) => {
    const context = contextOf(services, dependencies);
    for (const add of [addList, addCreate, addGet, addUpdate, addDelete, addDuplicate])
      add(app, dependencies, context);
  };
}

function contextOf(services: StreamServices, dependencies: ApiDependencies) {
  const { database } = dependencies;
  const describe = createDescribeStreams(database);
  return {
    services,
    store: createStreamStore(database, services.bounds),
    requireContracts: createRequireContracts(database),
    describe,
    show: async (stream: Stream | null) => showStream(describe, existing(stream)),
    chains: streamChains(dependencies, services.chains),
    chainOf: (id: ChainId) => dependencies.chains.find(String(id)),
  };
}

type Context = ReturnType<typeof contextOf>;

export function existing(stream: Stream | null): Stream {
  if (stream === null) throw notFound('Stream');
  return stream;
}

export function streamChains(
  { chains }: { readonly chains: Pick<StreamChains, 'find'> },
  followed: readonly Chain[],
): StreamChains {
  const ids = new Set<number>(followed.map(({ id }) => id));
  return { find: (id) => chains.find(id), isFollowed: ({ id }) => ids.has(id) };
}

const TAGS = ['Streams'];

function addList(app: ApiApp, dependencies: ApiDependencies, { store, describe }: Context): void {
  definePagedRoute(app, dependencies, {
    ...STREAM_LIST,
    path: '/streams/evm',
    operationId: 'GetStreams',
    tags: TAGS,
    summary: 'List streams',
    description: 'Newest first.',
    query: querySchema({
      limit: limitParameter,
      cursor: dependencies.parameters.cursor,
      status: statusSchema.optional(),
    }),
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
}

function addCreate(app: ApiApp, dependencies: ApiDependencies, context: Context): void {
  const { services, store, requireContracts, show, chains, chainOf } = context;
  defineStreamRoute(app, dependencies, {
    method: 'put',
    path: '/streams/evm',
    operationId: 'CreateStream',
    tags: TAGS,
    summary: 'Create a stream',
    description:
      'A test webhook must return 2xx first. If a stream with the same configuration exists, returns it instead of a second one.',
    body: z.strictObject(streamMembers(chains)),
    bodyBounds: CONFIG_BOUNDS,
    response: { description: 'The stream', schema: streamSchema },
    errors: [413, 429],
    async answer({ body, c }) {
      const config = newConfig(body);
      checkStream(config, chainOf);
      await requireContracts(config, chainOf);
      await requireTraces(services.offersTraces, config, chainOf);
      const by = apiActorOf(c);
      await requireWebhook(services, config, by.id);
      return show(await store.create(config, by));
    },
  });
}

function addGet(app: ApiApp, dependencies: ApiDependencies, { store, show }: Context): void {
  defineStreamRoute(app, dependencies, {
    path: '/streams/evm/{id}',
    operationId: 'GetStream',
    tags: TAGS,
    summary: 'Get a stream',
    params: { id: idParameter() },
    response: { description: 'The stream', schema: streamSchema },
    errors: [404],
    answer: async ({ id }) => show(await store.get(id)),
  });
}

function addUpdate(app: ApiApp, dependencies: ApiDependencies, context: Context): void {
  const { services, store, requireContracts, show, chains, chainOf } = context;
  defineStreamRoute(app, dependencies, {
    path: '/streams/evm/{id}',
    operationId: 'UpdateStream',
    tags: TAGS,
    summary: 'Update a stream',
    description: 'Omitted members are unchanged; null clears a member. A test webhook must return 2xx first.',
    params: { id: idParameter() },
    body: z.strictObject(streamMembers(chains)).partial(),
    bodyBounds: CONFIG_BOUNDS,
    response: { description: 'The stream', schema: streamSchema },
    errors: [404, 413, 429],
    async answer({ id, body, c }) {
      const changed = (current: Stream) => {
        const config = changedConfig(current, body);
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
      return show(await store.update(id, changed, by));
    },
  });
}

function addDelete(app: ApiApp, dependencies: ApiDependencies, { store }: Context): void {
  defineStreamRoute(app, dependencies, {
    method: 'delete',
    path: '/streams/evm/{id}',
    operationId: 'DeleteStream',
    tags: TAGS,
    summary: 'Delete a stream',
    description: 'Waiting webhooks are dropped. The history of the stream stays available.',
    params: { id: idParameter() },
    response: { description: 'The deleted stream', schema: streamSchema },
    errors: [404],
    answer: async ({ id, c }) => streamResponse(existing(await store.remove(id, apiActorOf(c)))),
  });
}

function addDuplicate(app: ApiApp, dependencies: ApiDependencies, { services, store, show }: Context): void {
  defineStreamRoute(app, dependencies, {
    method: 'post',
    path: '/streams/evm/{id}/duplicate',
    operationId: 'DuplicateStream',
    tags: TAGS,
    summary: 'Duplicate a stream',
    description:
      'Copies the stream with its addresses. A test webhook must return 2xx first. The duplicate is active.',
    params: { id: idParameter() },
    response: { description: 'The new stream', schema: streamSchema },
    errors: [404, 429],
    async answer({ id, c }) {
      const by = apiActorOf(c);
      await requireWebhook(services, existing(await store.get(id)), by.id);
      return show(await store.duplicate(id, by));
    },
  });
}
