import { errorText, type Logger } from '@chainstead/core';
import type { WithPgClient } from '@dataplan/pg';
import { execute, isSafeError } from 'grafast';
import type { DocumentNode } from 'graphql/index.js';
import {
  type GraphqlRefusalCode,
  GraphqlRefusalError,
  type ResultError,
  resultTooLarge,
  shownRefusal,
} from '../refusal.ts';
import { tooManyRows } from '../schema/event-page.ts';
import type { BuiltSchema } from '../schema/schemas.ts';

export interface GraphqlResult {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly ResultError[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

interface WantedQuery {
  readonly document: DocumentNode;
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Clients get no text of errors of Postgres or the program. */
export async function runQuery(
  { schema, preset }: Pick<BuiltSchema, 'schema' | 'preset'>,
  { document, operationName, variables }: WantedQuery,
  withPgClient: WithPgClient,
  logger: Logger,
): Promise<GraphqlResult> {
  const operation = { schema, document, operationName, variableValues: variables };
  const result = await execute({ ...operation, contextValue: { withPgClient }, resolvedPreset: preset });
  if (Symbol.asyncIterator in result) throw new TypeError('A query has no stream of results');
  const { data, errors } = result;
  const shownErrors = errors?.map((error) => {
    const { path, originalError } = error;
    return { ...shownError(originalError ?? error, logger), ...(path !== undefined && { path }) };
  });
  return { ...(data !== undefined && { data }), ...(shownErrors !== undefined && { errors: shownErrors }) };
}

export function shownError(error: unknown, logger: Logger): ResultError {
  if (error instanceof GraphqlRefusalError) return shownRefusal(error);
  const refusal = (code: GraphqlRefusalCode, message: string, remedy: string): ResultError =>
    shownRefusal(new GraphqlRefusalError(code, message, remedy));
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const state = /^[0-9A-Z]{5}$/.test(code) ? code : '';
  if (state === CANCELED)
    return refusal(
      'GRAPHQL_TIMEOUT',
      'A list took too long',
      'Request fewer rows, or a shorter range of blocks.',
    );
  if (state === DIVISION_BY_ZERO) return shownRefusal(tooManyRows());
  if (state.startsWith(DATA_EXCEPTION) || (error instanceof Error && isSafeError(error)))
    return refusal(
      'GRAPHQL_ARGUMENT_INVALID',
      'An argument has a value that its column or order can not have',
      'Use a cursor with the arguments that it came from, and numbers within the range of their column.',
    );
  logger.error({ error: errorText(error) }, 'GraphQL operation failed');
  return refusal('GRAPHQL_FAILED', 'The operation failed', 'Retry, and report the error if it repeats.');
}

const CANCELED = '57014';
const DIVISION_BY_ZERO = '22012';
const DATA_EXCEPTION = '22';

export type JsonBytes = Uint8Array<ArrayBuffer>;

const CHUNK_CHARACTERS = 65_536;

/** Like JSON.stringify, but bytes as `0x` and digits. Throws soon after `bytesMax`. */
export function jsonBytes(value: unknown, bytesMax: number): JsonBytes {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let text = '';

  function take(more: number): void {
    if (bytes + text.length + more > bytesMax) throw resultTooLarge(bytesMax);
  }

  function flush(): void {
    const chunk = Buffer.from(text, 'utf8');
    chunks.push(chunk);
    bytes += chunk.length;
    text = '';
    take(0);
  }

  function write(part: string): void {
    text += part;
    if (text.length >= CHUNK_CHARACTERS) flush();
  }

  function writeMembers(given: object): void {
    write('{');
    let separator = '';
    for (const [name, member] of Object.entries(given)) {
      if (member === undefined) continue;
      write(`${separator}${JSON.stringify(name)}:`);
      writeValue(member);
      separator = ',';
    }
    write('}');
  }

  function writeValue(given: unknown): void {
    if (typeof given === 'string') {
      take(given.length);
      write(JSON.stringify(given));
    } else if (Buffer.isBuffer(given)) {
      take(2 * given.length);
      write(`"0x${given.toString('hex')}"`);
    } else if (Array.isArray(given)) {
      write('[');
      for (const [index, item] of given.entries()) {
        if (index > 0) write(',');
        writeValue(item);
      }
      write(']');
    } else if (typeof given === 'object' && given !== null) writeMembers(given);
    else write(JSON.stringify(given) ?? 'null');
  }

  writeValue(value);
  flush();
  const all = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
