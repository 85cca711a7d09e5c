import { RESULT_BYTES_MAX } from '@chainstead/db';
import type { MiddlewareHandler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ApiEnv } from '../api-context.ts';
import { ResponseTooLargeError } from '../errors/api-error.ts';

export const JSON_TYPE = { 'content-type': 'application/json' } as const;

/**
 * Returns the JSON of a response. Escapes may make it several times as long as what was read.
 * @throws ResponseTooLargeError above {@link RESULT_BYTES_MAX}
 */
export function boundedJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (text.length > RESULT_BYTES_MAX) throw new ResponseTooLargeError(RESULT_BYTES_MAX, text.length);
  return text;
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
