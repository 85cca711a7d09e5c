import { errorResponses, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { changeStreamStatus, type StatusChange } from '../records/change-status.ts';
import { ACTIVE_MESSAGE, createStreamStore } from '../records/stream-store.ts';
import type { Stream } from '../stream.ts';
import type { StreamServices } from '../stream-services.ts';
import { idParameters } from './list-parameters.ts';
import { StreamTerminatedError } from './stream-errors.ts';
import { answer, jsonBody, streamResponse, streamSchema } from './stream-response.ts';
import { existing } from './stream-routes.ts';
import { refuseInvalid } from './validation-failed.ts';
import { requesterOf, requireWebhook } from './webhook-check.ts';

/** `POST /streams/evm/{id}/status`: pauses and resumes (docs/provider-contract.md#status). */
export function streamStatusRoute(services: StreamServices): RouteModule {
  return (app, { database }) => {
    const store = createStreamStore(database);
    app.openapi(
      route,
      async (c) => {
        const { id } = c.req.valid('param');
        const wanted = c.req.valid('json');
        const decide = (current: Stream) => statusChangeOf(current, wanted);
        const current = existing(await store.get(id));
        if (decide(current)?.status === 'active') await requireWebhook(services, current, requesterOf(c));
        const changed = await database.transaction((transaction) => changeStreamStatus(transaction, id, decide));
        return c.json(streamResponse(existing(changed)), 200);
      },
      refuseInvalid,
    );
  };
}

/** What people set streams to; the API gives them the first two. */
export type WantedStatus = 'active' | 'paused' | 'terminated';

const MESSAGES: Readonly<Record<WantedStatus, string>> = {
  active: ACTIVE_MESSAGE,
  paused: 'Stream was paused by the user',
  terminated: 'Stream was terminated by an operator',
};

/** Null where the stream is so already. @throws StreamTerminatedError */
export function statusChangeOf(
  current: Stream,
  {
    status,
    resumeTerminated = false,
  }: { readonly status: WantedStatus; readonly resumeTerminated?: boolean | undefined },
): StatusChange | null {
  if (current.status === status) return null;
  if (current.status === 'terminated' && !(resumeTerminated && status === 'active')) throw new StreamTerminatedError();
  return { status, statusMessage: MESSAGES[status] };
}

const route = createRoute({
  method: 'post',
  path: '/streams/evm/{id}/status',
  operationId: 'UpdateStreamStatus',
  tags: ['Streams'],
  summary: 'Pause or resume a stream',
  description: 'To become active, a test webhook has to be answered 2xx first. What waited is delivered then.',
  request: {
    params: idParameters,
    body: jsonBody(
      z.strictObject({
        status: z.enum(['active', 'paused']),
        resumeTerminated: z.boolean().optional().openapi({
          description: 'Beyond the provider: lets a terminated stream become active again. Default false.',
        }),
      }),
    ),
  },
  responses: { 200: answer('The stream', streamSchema), ...errorResponses(400, 401, 404, 429, 500, 503) },
});
