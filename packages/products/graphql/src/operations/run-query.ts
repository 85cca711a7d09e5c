import { errorText, type Logger } from '@chainstead/core';
import type { WithPgClient } from '@dataplan/pg';
import { execute, isSafeError } from 'grafast';
import type { DocumentNode } from 'graphql/index.js';
import { type GraphqlRefusalCode, GraphqlRefusalError, type ResultError, shownRefusal } from '../refusal.ts';
import type { BuiltSchema } from '../schema/build-schema.ts';
import { tooManyRows } from '../schema/event-list.ts';

export interface GraphqlResult {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly ResultError[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export interface WantedQuery {
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
