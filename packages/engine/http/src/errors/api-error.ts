import { ChainsteadError, startOfJson } from '@chainstead/core';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { CONFIGURED_KEY_ID, KEY_SCOPES, type KeyScope, type Principal } from '../keys/key-store.ts';

export type ErrorDetails = Readonly<Record<string, unknown>>;

export interface ApiErrorFacts {
  readonly code: string;
  readonly status: ContentfulStatusCode;
  readonly message: string;
  readonly details?: ErrorDetails;
  /** Sent instead of message and details. */
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/** An error with a response: status, message and details reach the client. */
export class ApiError extends ChainsteadError {
  readonly status: ContentfulStatusCode;
  readonly details: ErrorDetails | undefined;
  readonly body: object | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(options: ApiErrorFacts) {
    const { status, details, body, headers = {}, retryable = false, ...rest } = options;
    super({ ...rest, cause: options.cause, facts: { status, ...details }, retryable });
    this.status = status;
    this.details = details;
    this.body = body;
    this.headers = headers;
  }
}

/** As `defineError`, with a response. */
export function defineApiError<Args extends readonly unknown[]>(
  code: string,
  describe: (...args: Args) => Omit<ApiErrorFacts, 'code'>,
): new (
  ...args: Args
) => ApiError {
  return class extends ApiError {
    constructor(...args: Args) {
      super({ code, ...describe(...args) });
    }
  };
}

export interface ParameterProblem {
  readonly parameter: string;
  readonly given?: unknown;
  /** A phrase that completes "must be …". */
  readonly allowed?: string;
  /** A full sentence, if "must be …" doesn't fit. */
  readonly message?: string;
}

const GIVEN_LENGTH_MAX = 120;
const PROBLEMS_MAX = 10;
const SENTENCE_LENGTH_MAX = 1_000;

/** A 400 that lists invalid parameters with the received and the allowed values, up to ten. */
export class InvalidParameterError extends ApiError {
  constructor(...problems: readonly ParameterProblem[]) {
    const errors = problems.slice(0, PROBLEMS_MAX).map((problem) => ({
      ...problem,
      parameter: cut(problem.parameter, GIVEN_LENGTH_MAX),
      ...('given' in problem && { given: shorten(problem.given) }),
      ...(problem.message !== undefined && { message: cut(problem.message, SENTENCE_LENGTH_MAX) }),
    }));
    super({
      code: 'INVALID_PARAMETER',
      status: 400,
      // Each text once: the hosted API joins the messages of all broken rules.
      message: [...new Set(errors.map(sentenceOf))].join(', '),
      details: { errors: errors.map(({ message: _sentence, ...facts }) => facts) },
    });
  }
}

export class UnauthorizedError extends ApiError {
  constructor(reason: 'missing' | 'invalid') {
    super({
      code: reason === 'missing' ? 'KEY_MISSING' : 'KEY_INVALID',
      status: 401,
      message:
        reason === 'missing'
          ? 'API key is missing: send it in the X-API-Key header or as Authorization: Bearer'
          : 'Invalid key',
      headers: { 'www-authenticate': 'Bearer realm="chainstead"' },
    });
  }
}

export class ScopeMissingError extends defineApiError(
  'SCOPE_MISSING',
  (scope: KeyScope, { id, scopes }: Principal) => {
    const wanted = KEY_SCOPES.filter((name) => name === scope || scopes.has(name));
    const isConfigured = id.startsWith(CONFIGURED_KEY_ID);
    return {
      status: 403,
      message: `This API key lacks the scope "${scope}" (it has: ${[...scopes].join(', ') || 'none'}). ${
        isConfigured
          ? `Add :${wanted.join('+')} after the key in API_KEYS`
          : `Run: chainstead keys scope ${id} --scope ${wanted.join(',')}`
      }`,
      details: { scope, scopes: [...scopes] },
    };
  },
) {}

/** A 403: a route that needs no key got a request from outside this machine, on a loopback address. */
export class ForeignOriginError extends defineApiError(
  'FOREIGN_ORIGIN',
  (header: 'Host' | 'Origin' | 'Sec-Fetch-Site', given: string) => ({
    status: 403,
    message: `${header} ${JSON.stringify(shorten(given))} is not allowed: requests without an API key are accepted only for loopback names such as localhost`,
  }),
) {}

/** A 404: the resource in the path does not exist. */
export class NotFoundError extends defineApiError('NOT_FOUND', (message: string, details?: ErrorDetails) => ({
  status: 404,
  message,
  ...(details !== undefined && { details }),
})) {}

export class MethodNotAllowedError extends defineApiError(
  'METHOD_NOT_ALLOWED',
  (method: string, path: string, allowed: readonly string[]) => ({
    status: 405,
    message: `Method ${shorten(method)} is not allowed on ${shorten(path)}: use ${allowed.join(', ')}`,
    details: { method: shorten(method), allowed },
    headers: { allow: allowed.join(', ') },
  }),
) {}

export class BodyTooLargeError extends defineApiError('BODY_TOO_LARGE', (limit: number) => ({
  status: 413,
  message: `Request body is larger than ${limit} bytes`,
  details: { limit_bytes: limit },
  // The rest of the body is not read: the connection can't carry another request.
  headers: { connection: 'close' },
})) {}

export class TooManyBodiesError extends defineApiError('TOO_MANY_BODIES', () => ({
  status: 503,
  message: 'Too many request bodies are being received: retry',
  headers: { connection: 'close', 'retry-after': '1' },
  retryable: true,
})) {}

/** A 413: the data of one response is too large. Lists return fewer rows instead, if one row fits. */
export class ResponseTooLargeError extends ApiError {
  /** Size of the whole response; null: unknown. */
  readonly bytes: number | null;

  constructor(limit: number, bytes: number | null = null) {
    super({
      code: 'RESPONSE_TOO_LARGE',
      status: 413,
      message: `The data of this response is larger than ${limit} bytes: request fewer rows with limit, or a narrower range`,
      details: { reason: 'response-too-large', limit_bytes: limit },
    });
    this.bytes = bytes;
  }
}

export class TooManyResponsesError extends defineApiError('TOO_MANY_RESPONSES', () => ({
  status: 503,
  message: 'Too many large responses are being sent: retry',
  headers: { 'retry-after': '1' },
  retryable: true,
})) {}

/** Used by proxies for a client that disconnected: only counted. */
export const CLIENT_CLOSED_REQUEST: number = 499;

export class BodyAbortedError extends defineApiError('BODY_ABORTED', (cause: unknown) => ({
  status: CLIENT_CLOSED_REQUEST as ContentfulStatusCode,
  message: 'The client disconnected while sending the request body',
  cause,
})) {}

export class RateLimitedError extends defineApiError('RATE_LIMITED', (retryAfterSeconds: number) => ({
  status: 429,
  message: `Too many requests: try again in ${retryAfterSeconds} s`,
  details: { retry_after_seconds: retryAfterSeconds },
  headers: { 'retry-after': String(retryAfterSeconds) },
  retryable: true,
})) {}

export class NotServedError extends defineApiError(
  'NOT_SERVED',
  ({ name, method, path }: { readonly name: string; readonly method: string; readonly path: string }) => ({
    status: 501,
    message: `${name} (${method} ${path}) is not served by Chainstead yet: /docs/not-served lists all missing operations`,
    details: { operation: name, method, path },
  }),
) {}

/** A 503: the response is not available yet. */
export class UnavailableError extends defineApiError(
  'UNAVAILABLE',
  (message: string, details?: ErrorDetails) => ({
    status: 503,
    message,
    headers: { 'retry-after': '1' },
    retryable: true,
    ...(details !== undefined && { details }),
  }),
) {}

function sentenceOf(problem: ParameterProblem): string {
  if (problem.message !== undefined) return problem.message;
  const allowed = problem.allowed ?? 'something else';
  if (!('given' in problem)) return `${problem.parameter} is required: ${allowed}`;
  return `${problem.parameter} must be ${allowed}, ${JSON.stringify(problem.given)} was given`;
}

function shorten<T>(value: T): T | string {
  const text = typeof value === 'string' ? value : startOfJson(value, GIVEN_LENGTH_MAX + 1);
  return text.length <= GIVEN_LENGTH_MAX ? value : cut(text, GIVEN_LENGTH_MAX);
}

function cut(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}…`;
}

/** A 503: the rows need an index that does not exist, because a bulk load skipped it or it has not been built yet. */
export class IndexMissingError extends defineApiError('INDEX_MISSING', (names: readonly string[]) => ({
  status: 503,
  message: `Database indexes for this request are missing (${names.join(', ')}): build them with \`chainstead indexes\``,
  details: { indexes: names },
  headers: { 'retry-after': RETRY_AFTER_SECONDS },
  retryable: true,
})) {}

/** An index worth skipping takes minutes to build. */
const RETRY_AFTER_SECONDS = '60';

export function requireIndexes(missing: readonly string[]): void {
  if (missing.length > 0) throw new IndexMissingError(missing);
}
