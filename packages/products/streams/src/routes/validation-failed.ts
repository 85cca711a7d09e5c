import { startOfJson } from '@chainstead/core';
import { ApiError } from '@chainstead/http';
import type { z } from '@hono/zod-openapi';
import { isStorableJson, isStorableText } from './json-text.ts';

export interface Problem {
  /** With dots: `abi.0.type`. Empty: the whole input. */
  readonly path: string;
  readonly message: string;
  readonly value?: unknown;
}

const PROBLEMS_MAX = 10;
const VALUE_LENGTH_MAX = 200;
const BODY = 'requestBody';

/** A 400 in the hosted API's form (docs/api/streams-reference.md#create-and-update). */
export class ValidationFailedError extends ApiError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], part: 'body' | 'parameters' = 'body') {
    const reported = problems.slice(0, PROBLEMS_MAX).map(({ path, message, value }) => {
      const segments = path === '' ? [] : path.split('.').map((segment) => segment.replace(/^(?=\d+$)/, '$'));
      const key = (part === 'body' ? [BODY, ...segments] : segments).join('.');
      return [key, { message, value: shown(value) }] as const;
    });
    super({
      code: 'STREAM_VALIDATION_FAILED',
      status: 400,
      message: 'Validation Failed',
      details: Object.fromEntries(reported),
    });
    this.problems = problems;
  }
}

interface Validation {
  readonly success: boolean;
  readonly target: string;
  readonly data?: unknown;
  readonly error?: z.ZodError;
}

/** Hook of the stream routes. @throws ValidationFailedError */
export function refuseInvalid(result: Validation): undefined {
  if (result.success || result.error === undefined) return undefined;
  const problems = firstProblems(result.error, result.data);
  throw new ValidationFailedError(problems, result.target === 'json' ? 'body' : 'parameters');
}

export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new ValidationFailedError(firstProblems(parsed.error, body));
}

function firstProblems({ issues }: z.ZodError, data: unknown): readonly Problem[] {
  return issues.slice(0, PROBLEMS_MAX).flatMap((issue) => problemsOf(issue, data));
}

function problemsOf(issue: z.core.$ZodIssue, data: unknown): readonly Problem[] {
  const path = issue.path.map(String).join('.');
  // Only the schema can split a query parameter into its items.
  const value =
    issue.code === 'custom' && issue.params?.given !== undefined ? issue.params.given : valueAt(data, issue.path);
  if (issue.code !== 'unrecognized_keys') return [{ path, message: messageOf(issue, value), value }];
  return issue.keys.slice(0, PROBLEMS_MAX).map((key) => ({
    path: path === '' ? key : `${path}.${key}`,
    message: `"${key.slice(0, VALUE_LENGTH_MAX)}" is an excess property and therefore is not allowed`,
    value: valueAt(value, [key]),
  }));
}

/** docs/api/streams-reference.md#stream-record */
function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (typeof key === 'number' && !Array.isArray(value)) return value;
    if (typeof value !== 'object' || value === null) return undefined;
    return Object.getOwnPropertyDescriptor(value, key)?.value;
  }, data);
}

/** Messages of tsoa, as in the hosted API. */
const TYPE_MESSAGES: Readonly<Record<string, string>> = {
  string: 'invalid string value',
  boolean: 'invalid boolean value',
  number: 'invalid float number',
  int: 'invalid integer number',
  array: 'invalid array',
  object: 'invalid object',
  record: 'invalid object',
};

function messageOf(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      if (value === undefined) return `'${String(issue.path.at(-1) ?? BODY)}' is required`;
      return TYPE_MESSAGES[issue.expected] ?? issue.message;
    case 'invalid_value':
      if (value === undefined) return `'${String(issue.path.at(-1) ?? BODY)}' is required`;
      return `should be one of the following; [${issue.values.map((allowed) => `'${String(allowed)}'`).join(',')}]`;
    case 'too_big':
      return `${boundOf(issue.origin, 'max')} ${issue.maximum}`;
    case 'too_small':
      return `${boundOf(issue.origin, 'min')} ${issue.minimum}`;
    default:
      return issue.message;
  }
}

function boundOf(origin: string, bound: 'min' | 'max'): string {
  if (origin === 'string') return `${bound}Length`;
  return origin === 'array' ? `${bound}Items` : bound;
}

function shown(value: unknown): unknown {
  const text = typeof value === 'string' ? value : startOfJson(value, VALUE_LENGTH_MAX + 1);
  if (text.length <= VALUE_LENGTH_MAX) return isStorableJson(value) ? value : undefined;
  const start = text.slice(0, VALUE_LENGTH_MAX);
  return isStorableText(start) ? `${start}…` : undefined;
}
