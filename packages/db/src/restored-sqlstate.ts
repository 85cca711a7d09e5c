import { DatabaseError as PostgresError } from 'pg';

/** What Citus says with. */
const INTERNAL_ERROR = 'XX000';

/** How the server of a shard begins to say it, in its language of messages, English by default. */
const SQLSTATES: readonly (readonly [RegExp, string])[] = [
  [/^duplicate key value violates unique constraint/, '23505'],
  [/^no partition of relation/, '23514'],
  [/^deadlock detected/, '40P01'],
  [/^canceling statement due to lock timeout/, '55P03'],
  // A node went away that a transaction has a connection to.
  [/^failure on connection marked as essential/, '08006'],
];

/**
 * The error of a statement with the code that it has on one server. Rows for a distributed table go to its nodes by COPY, and of what a node says of that
 * Citus hands on the text alone: a deadlock would not be tried again, and a missing partition not be made.
 */
export function withSqlstate(error: unknown): unknown {
  if (!(error instanceof PostgresError) || error.code !== INTERNAL_ERROR) return error;
  const { message } = error;
  const known = SQLSTATES.find(([text]) => text.test(message));
  if (known === undefined) return error;
  const [, code] = known;
  return Object.assign(error, { code });
}
