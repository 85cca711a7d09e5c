import type { Database } from '@chainstead/db';
import { type AuditActor, apiActorOf } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { changeStreamStatus, type StatusChange } from '../records/change-status.ts';
import { auditStream } from '../records/stream-addresses.ts';
import { ACTIVE_MESSAGE, createStreamStore } from '../records/stream-store.ts';
import type { Stream } from '../stream.ts';
import { checkStream } from './check-stream.ts';
import {
  defineListRoute,
  defineStreamRoute,
  idParameter,
  limitParameter,
  listPage,
  NEWEST_FIRST,
  STREAM_LIST,
  type StreamRouteServices,
} from './define-stream-route.ts';
import { changedConfig, newConfig, type StreamChecks } from './stream-checks.ts';
import { existing, StreamTerminatedError } from './stream-errors.ts';
import { CONFIG_BOUNDS, STREAM, statusSchema, streamView } from './stream-response.ts';
import { type StreamChains, streamMembers } from './stream-schema.ts';

interface Context {
  readonly database: Database;
  readonly services: StreamRouteServices;
}

async function show({ database, services }: Context, stream: Stream | null) {
  const found = existing(stream);
  const [described = found] = await services.describe(database, [found]);
  return streamView.show(described);
}

const storeOf = ({ database, services }: Context) => createStreamStore(database, services.bounds);

const tag = 'Streams';
const params = [{ id: idParameter() }] as const;

const listStreams = defineListRoute({
  ...STREAM_LIST,
  path: '/streams/evm',
  operationId: 'GetStreams',
  tag,
  summary: 'List streams',
  description: 'Newest first.',
  query: [{ limit: limitParameter }, 'cursor', { status: statusSchema.optional() }],
  response: 'A page of streams',
  position: NEWEST_FIRST,
  async read({ database, services, status = null, query: { limit, after } }) {
    const { streams, next, total } = await createStreamStore(database).list({ status, after, limit });
    const described = await services.describe(database, streams);
    return listPage(described, next && ([...next] satisfies [string, string]), total);
  },
  view: streamView,
  row: (stream) => [stream],
});

const createStream = (chains: StreamChains) =>
  defineStreamRoute({
    method: 'put',
    path: '/streams/evm',
    operationId: 'CreateStream',
    tag,
    summary: 'Create a stream',
    description:
      'A test webhook must return 2xx first. If a stream with the same configuration exists, returns it instead of a second one.',
    body: z.strictObject(streamMembers(chains)),
    bodyBounds: CONFIG_BOUNDS,
    response: STREAM,
    errors: [413, 429],
    async answer({ body, c, ...context }) {
      const { database, services } = context;
      const config = newConfig(body);
      checkStream(config, services.checks.chainOf);
      const by = apiActorOf(c);
      await services.checks.requireAll(database, config, by.id);
      return show(context, await storeOf(context).create(config, by));
    },
  });

const getStream = defineStreamRoute({
  path: '/streams/evm/{id}',
  operationId: 'GetStream',
  tag,
  summary: 'Get a stream',
  params,
  response: STREAM,
  errors: [404],
  answer: async ({ id, ...context }) => show(context, await storeOf(context).get(id)),
});

const updateStream = (chains: StreamChains) =>
  defineStreamRoute({
    path: '/streams/evm/{id}',
    operationId: 'UpdateStream',
    tag,
    summary: 'Update a stream',
    description: 'Omitted members are unchanged; null clears a member. A test webhook must return 2xx first.',
    params,
    body: z.strictObject(streamMembers(chains)).partial(),
    bodyBounds: CONFIG_BOUNDS,
    response: STREAM,
    errors: [404, 413, 429],
    async answer({ id, body, c, ...context }) {
      const { checks } = context.services;
      const store = storeOf(context);
      const changed = (current: Stream) => {
        const config = changedConfig(current, body);
        checkStream(config, checks.chainOf);
        return config;
      };
      const current = existing(await store.get(id));
      const by = apiActorOf(c);
      await checks.requireAll(context.database, changed(current), by.id, current.contracts);
      // Checked again under the lock: another update may have happened.
      return show(context, await store.update(id, changed, by));
    },
  });

const deleteStream = defineStreamRoute({
  method: 'delete',
  path: '/streams/evm/{id}',
  operationId: 'DeleteStream',
  tag,
  summary: 'Delete a stream',
  description: 'Waiting webhooks are dropped. The history of the stream stays available.',
  params,
  response: { ...STREAM, description: 'The deleted stream' },
  errors: [404],
  answer: async ({ id, c, ...context }) =>
    streamView.show(existing(await storeOf(context).remove(id, apiActorOf(c)))),
});

const duplicateStream = defineStreamRoute({
  method: 'post',
  path: '/streams/evm/{id}/duplicate',
  operationId: 'DuplicateStream',
  tag,
  summary: 'Duplicate a stream',
  description:
    'Copies the stream with its addresses. A test webhook must return 2xx first. The duplicate is active.',
  params,
  response: { ...STREAM, description: 'The new stream' },
  errors: [404, 429],
  async answer({ id, c, ...context }) {
    const by = apiActorOf(c);
    const store = storeOf(context);
    await context.services.checks.requireWebhook(existing(await store.get(id)), by.id);
    return show(context, await store.duplicate(id, by));
  },
});

/** docs/api/streams.md#status */
const updateStreamStatus = defineStreamRoute({
  path: '/streams/evm/{id}/status',
  operationId: 'UpdateStreamStatus',
  tag,
  summary: 'Pause or resume a stream',
  description:
    'Before a stream becomes active, a test webhook must return 2xx. Waiting webhooks are then delivered.',
  params,
  body: z.strictObject({
    status: z.enum(['active', 'paused']),
    resumeTerminated: z.boolean().optional().openapi({
      description: 'Chainstead extension: reactivates a terminated stream. Default: false.',
    }),
  }),
  response: STREAM,
  errors: [404, 429],
  async answer({ id, body, c, ...context }) {
    const { database, services } = context;
    return show(context, await setStreamStatus(database, services.checks, id, body, apiActorOf(c)));
  },
});

/** docs/api/streams-reference.md#stream-routes */
export const streamRoutes = (chains: StreamChains) => [
  listStreams,
  createStream(chains),
  getStream,
  updateStream(chains),
  deleteStream,
  duplicateStream,
  updateStreamStatus,
];

/** The API allows the first two. */
export type WantedStatus = 'active' | 'paused' | 'terminated';

interface StatusRequest {
  readonly status: WantedStatus;
  readonly resumeTerminated?: boolean | undefined;
}

const MESSAGES: Readonly<Record<WantedStatus, string>> = {
  active: ACTIVE_MESSAGE,
  paused: 'Stream was paused by the user',
  terminated: 'Stream was terminated by an operator',
};
const ACTIONS = { active: 'stream.resume', paused: 'stream.pause', terminated: 'stream.terminate' } as const;

/** Tests the webhook first. @throws NotFoundError, StreamTerminatedError, WebhookTestError */
export async function setStreamStatus(
  database: Database,
  checks: Pick<StreamChecks, 'requireWebhook'>,
  id: string,
  wanted: StatusRequest,
  by: AuditActor,
): Promise<Stream> {
  const current = existing(await createStreamStore(database).get(id));
  if (statusChangeOf(current, wanted)?.status === 'active') await checks.requireWebhook(current, by.id);
  return database.transaction(async (transaction) => {
    let before: Stream['status'] | null = null;
    const changed = existing(
      await changeStreamStatus(transaction, id, (locked) => {
        const change = statusChangeOf(locked, wanted);
        if (change !== null) before = locked.status;
        return change;
      }),
    );
    if (before !== null) await auditStream(transaction, by, ACTIONS[wanted.status], id, { before });
    return changed;
  });
}

/** Null: already has the status. @throws StreamTerminatedError */
function statusChangeOf(
  current: Stream,
  { status, resumeTerminated = false }: StatusRequest,
): StatusChange | null {
  if (current.status === status) return null;
  if (current.status === 'terminated' && !(resumeTerminated && status === 'active'))
    throw new StreamTerminatedError();
  return { status, statusMessage: MESSAGES[status] };
}
