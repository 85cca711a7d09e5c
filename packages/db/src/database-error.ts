import { ChainsteadError, errorText } from '@chainstead/core';

/** What can go wrong between the program and its database, besides Postgres' own errors, which pass through unchanged. */
export class DatabaseError extends ChainsteadError {}

/** The embedded server could not be prepared, started or reached. Codes begin with `EMBEDDED_POSTGRES_`. */
export class EmbeddedPostgresError extends ChainsteadError {}

/** The data folder can't be used as one. */
export function unusableFolder(folder: string, cause: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError({
    code: 'EMBEDDED_POSTGRES_FOLDER',
    message: `The embedded Postgres cannot keep its data in ${folder}: ${errorText(cause)}`,
    facts: { folder },
    remedy: 'Set DATA_DIR to a folder on a local disk that this user may write to',
    retryable: false,
    cause,
  });
}
