import { ChainsteadError, type Logger } from '@chainstead/core';
import { DatabaseUnavailableError, RESULT_BYTES_MAX } from '@chainstead/db';
import { z } from '@hono/zod-openapi';
import type { ErrorHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ApiContext, ApiEnv } from '../api-context.ts';
import {
  ApiError,
  InvalidParameterError,
  type ParameterProblem,
  RateLimitedError,
  ResponseTooLargeError,
  UnauthorizedError,
} from '../errors/api-error.ts';
import { routePatternOf } from '../errors/unmatched.ts';
import { RequestAbandonedError } from './request-database.ts';

/** The body of every error (docs/api/index.md#errors). */
export const errorSchema = z
  .object({
    message: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .openapi('Error');

const DESCRIPTIONS = {
  400: 'Invalid parameter. The message contains its name, the given value and the allowed values',
  401: 'API key missing or rejected',
  404: 'Not found',
  413: 'Request body or response too large',
  429: 'Too many requests. See Retry-After',
  500: 'Internal error. Search the log for the request ID',
  501: 'Not available. The message contains the operation, or the setting that enables it',
  503: 'Temporarily unavailable. See Retry-After',
} as const;
/** A documented error status. */
export type DocumentedStatus = keyof typeof DESCRIPTIONS;

/** Returns the `responses` of a route for errors, for the OpenAPI document. */
export function errorResponses<Status extends DocumentedStatus>(...statuses: readonly Status[]) {
  const entries = statuses.map((status) => [
    status,
    {
      description: DESCRIPTIONS[status],
      content: { 'application/json': { schema: errorSchema, ...exampleOf(status) } },
    },
  ]);
  return Object.fromEntries(entries) as Record<
    Status,
    { description: string; content: { 'application/json': { schema: typeof errorSchema } } }
  >;
}

/** Returns the example of errors that are the same on every route. */
function exampleOf(status: DocumentedStatus): { readonly example?: { readonly message: string } } {
  switch (status) {
    case 401:
      return { example: { message: new UnauthorizedError('missing').message } };
    case 429:
      return { example: { message: new RateLimitedError(1).message } };
    case 500:
      return { example: { message: INTERNAL_ERROR } };
    case 503:
      return { example: { message: UNAVAILABLE } };
    default:
      return {};
  }
}

const INTERNAL_ERROR = 'Internal error';
const UNAVAILABLE = 'Temporarily unavailable';

/** Errors of other packages caused by the client. Everything else that is not an ApiError is 503 or 500. */
const STATUS_BY_CODE: Readonly<Record<string, ContentfulStatusCode>> = {
  INVALID_PRIMITIVE: 400,
  JSON_TOO_DEEP: 400,
  JSON_TOO_MANY_VALUES: 413,
};

/**
 * Turns errors of routes into the error envelope. Unexpected errors are logged in full; the response omits their text.
 */
export function errorAnswer(logger: Logger): ErrorHandler<ApiEnv> {
  return (thrown, c) => {
    const answer = answerTo(thrown);
    for (const [name, value] of Object.entries(answer.headers)) c.header(name, value);
    if (answer.status >= 500 && answer.status !== 501 && !isReportedElsewhere(thrown)) {
      // A route that asks to try again has not failed: its work continues, or other requests use the budget.
      const level = thrown instanceof ApiError && thrown.retryable ? 'warn' : 'error';
      logger[level](
        { request_id: c.get('requestId'), method: c.req.method, route: routePatternOf(c), err: thrown },
        'Request failed',
      );
    }
    return c.json(
      { message: answer.message, ...(answer.details !== undefined && { details: answer.details }) },
      answer.status,
    );
  };
}

/** The database connections log an outage once, and no client waits for the response to an abandoned request. */
function isReportedElsewhere(thrown: unknown): boolean {
  const reported = [DatabaseUnavailableError, RequestAbandonedError];
  return reported.some((kind) => thrown instanceof kind);
}

/** SQLSTATEs of `statement_timeout` and `lock_timeout`. */
const SQLSTATES_TOO_LONG: ReadonlySet<unknown> = new Set(['57014', '55P03']);

/** SQLSTATEs of a statement that Postgres aborted so that another one can continue: a deadlock, or a conflict of transactions. */
const SQLSTATES_ABORTED: ReadonlySet<unknown> = new Set(['40P01', '40001']);

/** SQLSTATEs of text that Postgres can't store: a NUL, or a lone surrogate in JSON. */
const SQLSTATES_OF_TEXT: ReadonlySet<unknown> = new Set(['22021', '22P05']);

/** SQLSTATE of a value that is larger than Postgres can build. */
const SQLSTATE_TOO_LARGE = '54000';

/** Returns whether a request failed because its data is too large for one response: with fewer rows it may succeed. */
export function isTooLarge(thrown: unknown): boolean {
  if (thrown instanceof ResponseTooLargeError) return true;
  return thrown instanceof Error && 'code' in thrown && thrown.code === SQLSTATE_TOO_LARGE;
}

type Answer = Pick<ApiError, 'status' | 'message' | 'details' | 'headers'>;

/** Seconds after which a retry makes sense while the database is unavailable. */
const DATABASE_RETRY_AFTER = '5';

/** Returns the client's response to any thrown value. */
export function answerTo(thrown: unknown): Answer {
  if (thrown instanceof ApiError) return thrown;
  if (isTooLarge(thrown)) return new ResponseTooLargeError(RESULT_BYTES_MAX);
  if (thrown instanceof DatabaseUnavailableError)
    return {
      status: 503,
      message: 'The database is unavailable: try again later',
      details: undefined,
      headers: { 'retry-after': DATABASE_RETRY_AFTER },
    };
  if (thrown instanceof Error && 'code' in thrown && SQLSTATES_TOO_LONG.has(thrown.code))
    return { status: 503, message: 'The request took too long', details: undefined, headers: { 'retry-after': '1' } };
  if (thrown instanceof Error && 'code' in thrown && SQLSTATES_ABORTED.has(thrown.code))
    return { status: 503, message: UNAVAILABLE, details: undefined, headers: { 'retry-after': '1' } };
  if (thrown instanceof Error && 'code' in thrown && SQLSTATES_OF_TEXT.has(thrown.code))
    return {
      status: 400,
      message: 'The request contains a NUL character, which Postgres can’t store: remove it',
      details: undefined,
      headers: {},
    };
  if (thrown instanceof HTTPException)
    return { status: thrown.status as ContentfulStatusCode, message: thrown.message, details: undefined, headers: {} };
  if (thrown instanceof ChainsteadError) {
    const status = STATUS_BY_CODE[thrown.code];
    if (status !== undefined) return { status, message: thrown.message, details: undefined, headers: {} };
    if (thrown.retryable)
      return { status: 503, message: UNAVAILABLE, details: undefined, headers: { 'retry-after': '1' } };
  }
  return { status: 500, message: INTERNAL_ERROR, details: undefined, headers: {} };
}

/** The schemas' validation result of a part of a request. */
export interface Validation {
  readonly success: boolean;
  readonly target: string;
  readonly error?: z.ZodError;
  readonly data?: unknown;
}

/** Throws the error for a request that fails its schemas. The default hook of the app. */
export function refuseInvalid(result: Validation, _c: ApiContext): void {
  if (result.success || result.error === undefined) return;
  throw invalidParameters(result.error, result.data, result.target);
}

/**
 * Returns the error for a request that fails its schemas.
 * @param data the parsed input
 * @param target the part of the request: `json` for a body
 */
export function invalidParameters(error: z.ZodError, data: unknown, target = 'query'): InvalidParameterError {
  const issues = error.issues.slice(0, ISSUES_MAX);
  return new InvalidParameterError(...issues.map((issue) => problemOf(issue, data, target)));
}

/** Each value of a body can break a rule: only the first problems are reported. */
const ISSUES_MAX = 10;

function problemOf(issue: z.core.$ZodIssue, data: unknown, target: string): ParameterProblem {
  const parameter = issue.path.map(String).join('.') || 'body';
  // The schemas of parameters.ts provide the allowed and given values.
  if (issue.code === 'custom' && typeof issue.params?.allowed === 'string') {
    const { allowed, given, sentence } = issue.params;
    return { parameter, given, allowed, ...(typeof sentence === 'string' && { message: sentence }) };
  }
  const given = issue.path.reduce<unknown>((value, key) => (isIndexable(value) ? value[key] : undefined), data);
  if (issue.code !== 'invalid_type') return { parameter, given, message: `${parameter}: ${issue.message}` };
  if (given === undefined) return { parameter, message: `${parameter} is required` };
  if (target !== 'json' && issue.expected === 'string' && Array.isArray(given))
    return { parameter, given, message: `${parameter} may be given once, it was given ${given.length} times` };
  return { parameter, given, message: `${parameter}: must be ${KINDS[issue.expected] ?? issue.expected}` };
}

/** Expected kinds in the wording of the other messages. */
const KINDS: Readonly<Record<string, string>> = {
  object: 'an object',
  record: 'an object',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
};

function isIndexable(value: unknown): value is Readonly<Record<PropertyKey, unknown>> {
  return typeof value === 'object' && value !== null;
}
