import type { JsonValue } from '@chainstead/core';
import type { InvalidParameterError, PageEnvelope } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { refuseInvalid, ValidationFailedError } from './validation-failed.ts';

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
  limitDefault: 1,
  firstPage: 0,
  prepare: <Page>(page: Page): Page => page,
} as const;

export function listPage<Items, Position extends JsonValue>(items: Items, next: Position | null, total: number) {
  return { items, total, next: next === null ? null : { position: next, upperBound: 0 } };
}

export function pageBody<Item>(result: readonly Item[], { cursor }: PageEnvelope, total: number) {
  return { result, ...(cursor !== null && { cursor }), total };
}
