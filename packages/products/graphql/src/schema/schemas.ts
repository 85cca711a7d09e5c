import type { Clock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import type { ChainLookup } from '@chainstead/http';
import type { WithPgClient } from '@dataplan/pg';
import type { Reader } from '../reading/reader.ts';
import { readRows } from '../reading/reader.ts';
import { GraphqlRefusalError } from '../refusal.ts';
import { type BuiltSchema, buildSchema } from './build-schema.ts';
import { SHOWN_SCHEMAS } from './row-sources.ts';

/** Rebuilt after tables, columns or indexes change. */
interface Schemas {
  /** Null: all tables. Skips unknown names. @throws GraphqlRefusalError if there are too many */
  read(lists: readonly string[] | null): Promise<KeyedSchema>;
}

export interface KeyedSchema extends BuiltSchema {
  readonly key: string;
}

const CHECK_MS = 1_000;
const STORED_MAX = 24;
const INTROSPECTION_MAX = 1_000;
/** A schema without a list is invalid. */
const ALWAYS = 'analytics_blocks';
const INTROSPECTION = { timeoutMs: 30_000, bytesMax: 256 * 1_024 * 1_024 };

export function createSchemas(reader: Reader, clock: Clock, chains: ChainLookup): Schemas {
  const checks = new Map<string, { readonly at: number; readonly tables: Promise<readonly Table[]> }>();
  const stored = new Map<string, Promise<KeyedSchema>>();

  function tablesOf(lists: readonly string[] | null): Promise<readonly Table[]> {
    const wanted = lists === null ? null : [...new Set([...lists, ALWAYS])].toSorted();
    const key = JSON.stringify(wanted);
    const known = checks.get(key);
    if (known !== undefined && clock.now() - known.at < CHECK_MS) return known.tables;
    const tables = reader.inSnapshot((withClient) => readTables(withClient, wanted));
    keepNewest(checks, key, { at: clock.now(), tables });
    tables.catch(() => checks.delete(key));
    return tables;
  }

  return {
    async read(lists) {
      const tables = await tablesOf(lists);
      if (tables.length > INTROSPECTION_MAX) throw tooLarge(tables.length);
      const key = tables.map(({ revision }) => revision).join(' ');
      const oids = tables.map(({ oid }) => oid);
      const build = async (withClient: WithPgClient) => ({
        key,
        ...(await buildSchema(withClient, oids, chains)),
      });
      const built = stored.get(key) ?? reader.inSnapshot(build, INTROSPECTION);
      keepNewest(stored, key, built);
      built.catch(() => stored.delete(key));
      return built;
    },
  };
}

function keepNewest<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > STORED_MAX && oldest !== undefined) map.delete(oldest);
}

function tooLarge(tables: number): GraphqlRefusalError {
  return new GraphqlRefusalError(
    'GRAPHQL_SCHEMA_TOO_LARGE',
    `The schema has ${tables} tables and views, and introspection shows at most ${INTROSPECTION_MAX}`,
    'Query the lists by their names: contracts_ or analytics_, followed by the name of the table. The operator can remove contracts.',
  );
}

interface Table {
  readonly oid: string;
  readonly revision: string;
}

async function readTables(withClient: WithPgClient, wanted: readonly string[] | null): Promise<readonly Table[]> {
  const isWanted =
    wanted === null
      ? sql`true`
      : sql`(n.nspname, c.relname) IN (SELECT * FROM unnest(${wanted.map(schemaOf)}::text[], ${wanted.map((list) => list.slice(schemaOf(list).length + 1))}::text[]))`;
  return readRows<Table>(
    withClient,
    sql`SELECT c.oid::text AS oid, md5(concat_ws(' ', c.oid, c.relname, c.relacl, (
         SELECT string_agg(concat_ws(' ', i.indexrelid, i.indisvalid), ',' ORDER BY i.indexrelid) FROM pg_index i WHERE i.indrelid = c.oid
       ), (
         SELECT string_agg(concat_ws(' ', a.attname, a.atttypid), ',' ORDER BY a.attnum) FROM pg_attribute a
         WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       ))) AS revision
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = ANY (${SHOWN_SCHEMAS}::text[]) AND c.relkind IN ('p', 'v') AND ${isWanted}
     ORDER BY c.oid LIMIT ${INTROSPECTION_MAX + 1}`,
  );
}

function schemaOf(list: string): string {
  return SHOWN_SCHEMAS.find((name) => list.startsWith(`${name}_`)) ?? '';
}
