import type { MiddlewareHandler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ApiEnv } from '../api-context.ts';
import { ResponseTooLargeError } from '../errors/api-error.ts';
import { resultBytesMax } from './response-bytes.ts';

export const JSON_TYPE = { 'content-type': 'application/json' } as const;

/** Escapes may make JSON several times as long as stored texts. @throws ResponseTooLargeError */
export function boundedJson(value: unknown): string {
  // One long text may be in many rows: their JSON must not be built to learn its size.
  const [length, bytesMax] = [textLength(value), resultBytesMax()];
  if (length > bytesMax) throw new ResponseTooLargeError(bytesMax, length);
  const text = JSON.stringify(value);
  if (text.length > bytesMax) throw new ResponseTooLargeError(bytesMax, text.length);
  return text;
}

function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let length = 0;
  for (const one of Array.isArray(value) ? value : Object.values(value)) length += textLength(one);
  return length;
}

/** Makes the `c.json` of requests use {@link boundedJson}. */
export function boundedResponses(): MiddlewareHandler<ApiEnv> {
  return (c, next) => {
    const json = (value: unknown, status?: ContentfulStatusCode, headers?: Record<string, string>) =>
      c.body(boundedJson(value), status, { ...JSON_TYPE, ...headers });
    Object.assign(c, { json });
    return next();
  };
}
