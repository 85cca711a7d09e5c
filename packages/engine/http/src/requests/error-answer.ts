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
import { RequestAbandonedError } from './request-end.ts';

/** docs/api/index.md#errors */
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
export type DocumentedStatus = keyof typeof DESCRIPTIONS;

export function errorResponses<Status extends DocumentedStatus>(...statuses: readonly Status[]) {
  const entries = statuses.map((status) => {
    const message = EXAMPLES[status];
    const json = { schema: errorSchema, ...(message !== undefined && { example: { message } }) };
    return [status, { description: DESCRIPTIONS[status], content: { 'application/json': json } }];
  });
  return Object.fromEntries(entries) as Record<
    Status,
    { description: string; content: { 'application/json': { schema: typeof errorSchema } } }
  >;
}

const INTERNAL_ERROR = 'Internal error';
const UNAVAILABLE = 'Temporarily unavailable';
const EXAMPLES: Readonly<Partial<Record<DocumentedStatus, string>>> = {
  401: new UnauthorizedError('missing').message,
  429: new RateLimitedError(1).message,
  500: INTERNAL_ERROR,
  503: UNAVAILABLE,
};

/** Caused by the client. Other errors that are not an ApiError are 503 or 500. */
const STATUS_BY_CODE: Readonly<Record<string, ContentfulStatusCode>> = {
  INVALID_PRIMITIVE: 400,
  JSON_TOO_DEEP: 400,
  JSON_TOO_MANY_VALUES: 413,
};

/** Unexpected errors are logged in full; the response omits their text. */
export function errorAnswer(logger: Logger): ErrorHandler<ApiEnv> {
  return (thrown, c) => {
    const answer = answerTo(thrown);
    for (const [name, value] of Object.entries(answer.headers)) c.header(name, value);
    // Outages are logged by connections, nothing waits for an abandoned response, and a route that asks to try again has
    // not failed: the line of the request has its reason.
    const isReported =
      thrown instanceof DatabaseUnavailableError ||
      thrown instanceof RequestAbandonedError ||
      (thrown instanceof ApiError && thrown.retryable);
    if (thrown instanceof ApiError && answer.status === 503) c.set('reason', thrown.message);
    if (answer.status >= 500 && answer.status !== 501 && !isReported)
      logger.error(
        { request_id: c.get('requestId'), method: c.req.method, route: routePatternOf(c), err: thrown },
        'Request failed',
      );
    const { message, details, body = { message, ...(details !== undefined && { details }) } } = answer;
    return c.json(body, answer.status);
  };
}

const SQLSTATES_TOO_LONG: ReadonlySet<unknown> = new Set(['57014', '55P03']);

/** Postgres aborted the statement so that another one can continue: deadlock or conflict. */
const SQLSTATES_ABORTED: ReadonlySet<unknown> = new Set(['40P01', '40001']);

const SQLSTATES_OF_TEXT: ReadonlySet<unknown> = new Set(['22021', '22P05']);

const SQLSTATE_TOO_LARGE = '54000';

export function isTooLarge(thrown: unknown): boolean {
  if (thrown instanceof ResponseTooLargeError) return true;
  return thrown instanceof Error && 'code' in thrown && thrown.code === SQLSTATE_TOO_LARGE;
}

type Answer = Pick<ApiError, 'status' | 'message' | 'details' | 'headers'> & Partial<Pick<ApiError, 'body'>>;

const DATABASE_RETRY_AFTER = '5';

export function answerTo(thrown: unknown): Answer {
  if (thrown instanceof ApiError) return thrown;
  if (isTooLarge(thrown)) return new ResponseTooLargeError(RESULT_BYTES_MAX);
  const answer = (status: number, message: string, headers = {}): Answer => {
    return { status: status as ContentfulStatusCode, message, details: undefined, headers };
  };
  const later = (message: string, seconds = '1') => answer(503, message, { 'retry-after': seconds });
  if (thrown instanceof DatabaseUnavailableError)
    return later('The database is unavailable: try again later', DATABASE_RETRY_AFTER);
  const sqlState = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  if (SQLSTATES_TOO_LONG.has(sqlState)) return later('The request took too long');
  if (SQLSTATES_ABORTED.has(sqlState)) return later(UNAVAILABLE);
  if (SQLSTATES_OF_TEXT.has(sqlState))
    return answer(400, 'The request contains a NUL character, which Postgres can’t store: remove it');
  if (thrown instanceof HTTPException) return answer(thrown.status, thrown.message);
  if (thrown instanceof ChainsteadError) {
    const status = STATUS_BY_CODE[thrown.code];
    if (status !== undefined) return answer(status, thrown.message);
    if (thrown.retryable) return later(UNAVAILABLE);
  }
  return answer(500, INTERNAL_ERROR);
}

export interface Validation {
  readonly success: boolean;
  readonly target: string;
  readonly error?: z.ZodError;
  readonly data?: unknown;
}

export function refuseInvalid(result: Validation, _c: ApiContext): void {
  if (result.success || result.error === undefined) return;
  throw invalidParameters(result.error, result.data, result.target);
}

export function invalidParameters(error: z.ZodError, data: unknown, target = 'query'): InvalidParameterError {
  const issues = error.issues.slice(0, ISSUES_MAX);
  return new InvalidParameterError(...issues.map((issue) => problemOf(issue, data, target)));
}

const ISSUES_MAX = 10;

function problemOf(issue: z.core.$ZodIssue, data: unknown, target: string): ParameterProblem {
  const parameter = issue.path.map(String).join('.') || 'body';
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
