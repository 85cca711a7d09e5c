import { errorText, type Logger } from '@chainstead/core';
import type { WithPgClient } from '@dataplan/pg';
import { execute, isSafeError } from 'grafast';
import type { DocumentNode, ExecutionResult, GraphQLError } from 'graphql/index.js';
import { GraphqlRefusalError, type ResultError, shownRefusal } from '../refusal.ts';
import type { BuiltSchema } from '../schema/build-schema.ts';
import { tooManyRows } from '../schema/event-list.ts';

/** A result of the GraphQL specification. */
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

/** Runs a query on a connection. Errors of Postgres and of the program have no text for clients. */
export async function runQuery(
  { schema, preset }: Pick<BuiltSchema, 'schema' | 'preset'>,
  { document, operationName, variables }: WantedQuery,
  withPgClient: WithPgClient,
  logger: Logger,
): Promise<GraphqlResult> {
  const result = await execute({
    schema,
    document,
    operationName,
    variableValues: variables,
    contextValue: { withPgClient },
    resolvedPreset: preset,
  });
  if (!isWhole(result)) throw new TypeError('A query has no stream of results');
  const { data, errors } = result;
  return {
    ...(data !== undefined && { data }),
    ...(errors !== undefined && { errors: errors.map((error) => resultError(error, logger)) }),
  };
}

/** Returns an error as clients see it. */
export function shownError(error: unknown, logger: Logger): ResultError {
  if (error instanceof GraphqlRefusalError) return shownRefusal(error);
  const state = sqlState(error);
  if (state === CANCELED)
    return shownError(
      new GraphqlRefusalError(
        'GRAPHQL_TIMEOUT',
        'A list took too long',
        'Request fewer rows, or a shorter range of blocks.',
      ),
      logger,
    );
  if (state === DIVISION_BY_ZERO) return shownError(tooManyRows(), logger);
  if (state?.startsWith(DATA_EXCEPTION) === true || (error instanceof Error && isSafeError(error)))
    return shownError(
      new GraphqlRefusalError(
        'GRAPHQL_ARGUMENT_INVALID',
        'An argument has a value that its column or order can not have',
        'Use a cursor with the arguments that it came from, and numbers within the range of their column.',
      ),
      logger,
    );
  logger.error({ error: errorText(error) }, 'GraphQL operation failed');
  return shownError(
    new GraphqlRefusalError('GRAPHQL_FAILED', 'The operation failed', 'Retry, and report the error if it repeats.'),
    logger,
  );
}

const CANCELED = '57014';
/** Only the bound of rows to read divides. */
const DIVISION_BY_ZERO = '22012';
const DATA_EXCEPTION = '22';

function isWhole(result: object): result is ExecutionResult {
  return !(Symbol.asyncIterator in result);
}

function resultError(error: GraphQLError, logger: Logger): ResultError {
  const { path } = error;
  return { ...shownError(error.originalError ?? error, logger), ...(path !== undefined && { path }) };
}

function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code)
    ? error.code
    : undefined;
}
