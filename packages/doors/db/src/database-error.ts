import { ChainsteadError, errorText } from '@chainstead/core';

/** Errors between Chainstead and its database, except Postgres errors, which are passed on unchanged. */
export class DatabaseError extends ChainsteadError {}

/** The embedded server could not be prepared, started or reached. Codes begin with `EMBEDDED_POSTGRES_`. */
export class EmbeddedPostgresError extends ChainsteadError {}

export function unusableFolder(folder: string, cause: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError({
    code: 'EMBEDDED_POSTGRES_FOLDER',
    message: `The embedded Postgres can't store its data in ${folder}: ${errorText(cause)}`,
    facts: { folder },
    remedy: 'Set DATA_DIR to a folder on a local disk that this user can write to',
    retryable: false,
    cause,
  });
}
