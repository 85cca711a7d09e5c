import { type Clock, errorText, type Logger } from '@chainstead/core';
import type { WithPgClient } from '@dataplan/pg';
import type { Reader } from '../reading/reader.ts';
import { type BuiltSchema, buildSchema, SHOWN_SCHEMAS } from './build-schema.ts';

/** The schema, rebuilt after tables, columns or indexes have changed. */
export interface CurrentSchema {
  /** @throws GraphqlRefusalError */
  read(): Promise<BuiltSchema>;
}

/** Interval between checks for changes. Milliseconds. */
const CHECK_MS = 1_000;

/** Returns access to the schema. It is first built at the first read. */
export function createCurrentSchema({
  reader,
  clock,
  logger,
}: {
  readonly reader: Reader;
  readonly clock: Clock;
  readonly logger: Logger;
}): CurrentSchema {
  let current: { readonly built: BuiltSchema; readonly revision: string } | undefined;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let refreshing: Promise<BuiltSchema> | undefined;

  async function refresh(): Promise<BuiltSchema> {
    checkedAt = clock.now();
    const revision = await reader.inSnapshot(readRevision);
    if (current?.revision === revision) return current.built;
    const built = await reader.inSnapshot(buildSchema, INTROSPECTION);
    current = { built, revision };
    return built;
  }

  return {
    async read() {
      if (current !== undefined && clock.now() - checkedAt < CHECK_MS) return current.built;
      refreshing ??= refresh().finally(() => {
        refreshing = undefined;
      });
      try {
        return await refreshing;
      } catch (error) {
        if (current === undefined) throw error;
        logger.warn({ error: errorText(error) }, 'GraphQL schema not updated');
        return current.built;
      }
    },
  };
}

/** Introspection reads the catalogs of all tables. */
const INTROSPECTION = { timeoutMs: 30_000, bytesMax: 256 * 1_024 * 1_024 };

/** Returns a text that changes with every table, view, column, index and right that the schema shows. */
async function readRevision(withClient: WithPgClient): Promise<string> {
  const { rows } = await withClient(null, (client) =>
    client.query<{ revision: string | null }>({ text: REVISION_SQL, values: [[...SHOWN_SCHEMAS]] }),
  );
  return rows[0]?.revision ?? '';
}

const REVISION_SQL = `
SELECT md5(string_agg(concat_ws(' ', c.oid, c.relname, c.relacl, (
    SELECT string_agg(concat_ws(' ', i.indexrelid, i.indisvalid), ',' ORDER BY i.indexrelid) FROM pg_index i WHERE i.indrelid = c.oid
  ), (
    SELECT string_agg(concat_ws(' ', a.attname, a.atttypid), ',' ORDER BY a.attnum) FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  )), ';' ORDER BY c.oid)) AS revision
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ANY ($1::text[]) AND c.relkind IN ('r', 'v')`;
