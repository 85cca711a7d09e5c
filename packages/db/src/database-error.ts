import { ChainsteadError } from '@chainstead/core';

/** What can go wrong between the program and its database, besides Postgres' own errors, which pass through unchanged. */
export class DatabaseError extends ChainsteadError {}

/** The embedded server could not be prepared, started or reached. Codes begin with `EMBEDDED_POSTGRES_`. */
export class EmbeddedPostgresError extends ChainsteadError {}
