import type { JsonValue } from '@chainstead/core';
import { type InvalidParameterError, type OnDemandBudget, routesFor, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import type { DescribeStreams } from '../records/stream-overviews.ts';
import type { StreamServices } from '../stream-services.ts';
import type { StreamChecks } from './stream-checks.ts';
import { refuseInvalid, ValidationFailedError } from './validation-failed.ts';

/** What routes of streams share. */
export interface StreamRouteServices extends StreamServices {
  readonly checks: StreamChecks;
  readonly describe: DescribeStreams;
  readonly blocksToShow: OnDemandBudget;
  readonly blocksToSend: OnDemandBudget;
}

const routes = routesFor<StreamRouteServices>();

export const { defineListRoute } = routes;

/** Only routes that cause calls of nodes or webhooks have a rate limit: 429 is one of their `errors`. */
export const defineStreamRoute: typeof routes.defineRoute = (route) =>
  routes.defineRoute({ refuseInvalid, hasRateLimit: false, ...route });

const PAGE_LIMIT_MAX = 100;
const STREAM_ID = 'Invalid stream ID format';

/** docs/api/streams-reference.md#stream-routes */
export const limitParameter = z
  .string()
  .transform((text, ctx): number => {
    const limit = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (limit >= 1 && limit <= PAGE_LIMIT_MAX) return limit;
    const message = Number.isNaN(limit)
      ? 'invalid integer number'
      : limit < 1
        ? 'min 1'
        : `max ${PAGE_LIMIT_MAX}`;
    ctx.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .openapi({ type: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX, example: 10 });

export function idParameter() {
  return z
    .string()
    .regex(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i, { error: STREAM_ID })
    .toLowerCase()
    .openapi({ type: 'string', format: 'uuid' });
}

export const STREAM_LIST = {
  refuseInvalid,
  refusal: ({ message }: InvalidParameterError) =>
    new ValidationFailedError([{ path: 'cursor', message }], 'parameters'),
  hasRateLimit: false,
  limitDefault: 1,
  firstPage: 0,
  fields: <Source>({ result }: { readonly result: wire.Field<Source> }) => ({
    result,
    cursor: wire.text.orAbsent(({ cursor }: { readonly cursor: string | null }) => cursor),
    total: wire.integer(({ found }: { readonly found: { readonly total: number } }) => found.total),
  }),
} as const;

export const NEWEST_FIRST = z.tuple([z.string(), z.string()]);

export function listPage<Row, Position extends JsonValue>(
  rows: readonly Row[],
  next: Position | null,
  total: number,
) {
  return { rows, total, next: next === null ? null : { position: next, upperBound: 0 } };
}
