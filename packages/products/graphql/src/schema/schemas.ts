import type { Clock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import type { ChainLookup } from '@chainstead/http';
import type { PgClient, WithPgClient } from '@dataplan/pg';
import { defaultPreset as basePreset, makeSchema } from 'graphile-build';
import { defaultPreset as postgresPreset } from 'graphile-build-pg';
import type { GraphQLSchema } from 'graphql/index.js';
import { makeIntrospectionQuery } from 'pg-introspection';
import { type Reader, readRows } from '../reading/reader.ts';
import { GraphqlRefusalError } from '../refusal.ts';
import { ROWS_READ_MAX } from './event-page.ts';
import { SHOWN_SCHEMAS } from './row-sources.ts';
import { rowsPlugin } from './rows-plugin.ts';
import { scalarsPlugin } from './scalars-plugin.ts';
import { totalCountPlugin } from './total-count-plugin.ts';

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

export interface BuiltSchema {
  readonly schema: GraphQLSchema;
  readonly preset: GraphileConfig.ResolvedPreset;
}

declare global {
  namespace GraphileConfig {
    interface PgAdaptors {
      chainstead: { adaptorSettings: undefined; makePgServiceOptions: never; client: PgClient };
    }
  }
  namespace Grafast {
    interface Context {
      withPgClient: WithPgClient;
    }
  }
}

const PLANNING_MS = 1_000;

export async function buildSchema(
  withClient: WithPgClient,
  oids: readonly string[],
  chains: ChainLookup,
  rowsReadMax = ROWS_READ_MAX,
): Promise<BuiltSchema> {
  const narrow = narrowIntrospection(withClient, oids);
  const { schema, resolvedPreset } = await makeSchema({
    extends: [basePreset, postgresPreset],
    plugins: [namesPlugin, scalarsPlugin(chains), rowsPlugin(rowsReadMax), totalCountPlugin],
    disablePlugins: NOT_WANTED,
    pgServices: [
      {
        name: 'main',
        schemas: [...SHOWN_SCHEMAS],
        withPgClientKey: 'withPgClient',
        adaptor: {
          createWithPgClient: () => narrow,
          makePgService: () => {
            throw new TypeError('The service is given, not made');
          },
        },
        adaptorSettings: undefined,
      },
    ],
    schema: { pgForbidSetofFunctionsToReturnNull: true },
    grafast: { explain: false, timeouts: { planning: PLANNING_MS } },
  });
  return { schema, preset: resolvedPreset };
}

const NOT_WANTED: (keyof GraphileConfig.Plugins)[] = [
  'MutationPlugin',
  'MutationPayloadQueryPlugin',
  'ClientMutationIdDescriptionPlugin',
  'NodePlugin',
  'AddNodeInterfaceToSuitableTypesPlugin',
  'NodeIdCodecBase64JSONPlugin',
  'NodeIdCodecPipeStringPlugin',
  'RegisterQueryNodePlugin',
  'NodeAccessorPlugin',
  'BuiltinScalarConnectionsPlugin',
  'PgContextPlugin',
  'PgRefsPlugin',
  'PgMutationCreatePlugin',
  'PgProceduresPlugin',
  'PgNodeIdAttributesPlugin',
  'PgAllRowsPlugin',
  'PgRowByUniquePlugin',
  'PgConnectionTotalCountPlugin',
  'PgRelationsPlugin',
  'PgFirstLastBeforeAfterArgsPlugin',
  'PgConnectionArgOrderByPlugin',
  'PgConditionArgumentPlugin',
  'PgConditionCustomFieldsPlugin',
  'PgOrderByPrimaryKeyPlugin',
  'PgOrderAllAttributesPlugin',
  'PgOrderCustomFieldsPlugin',
  'PgConnectionArgOrderByDefaultValuePlugin',
  'PgTableNodePlugin',
  'PgMutationPayloadEdgePlugin',
  'PgMutationUpdateDeletePlugin',
  'PgJWTPlugin',
  'PgEnumTablesPlugin',
  'PgFakeConstraintsPlugin',
  'PgPolymorphismPlugin',
  'PgInterfaceModeUnionAllRowsPlugin',
  'PgPolymorphismOnlyArgumentPlugin',
  'PgIndexBehaviorsPlugin',
];

/** Names as in SQL: camel case would make `a_b1` and `a_b_1` equal. */
const namesPlugin: GraphileConfig.Plugin = {
  name: 'NamesPlugin',
  version: '1.0.0',
  inflection: {
    replace: {
      builtin: (previous, _options, text) =>
        text === 'Base64EncodedBinary' ? 'Bytes' : (previous?.(text) ?? text),
      classCodecName: (_previous, _options, { pgClass }) => nameOf(pgClass),
      tableResourceName: (_previous, _options, { pgClass }) => nameOf(pgClass),
      tableType: (_previous, _options, codec) => codec.name,
      tableConnectionType: (_previous, _options, codec) => `${codec.name}Connection`,
      tableEdgeType: (_previous, _options, codec) => `${codec.name}Edge`,
      inputType: (_previous, _options, name) => `${name}Input`,
      patchType: (_previous, _options, name) => `${name}Patch`,
      baseInputType: (_previous, _options, name) => `${name}BaseInput`,
      attribute: (_previous, _options, { attributeName }) => attributeName,
    },
  },
};

function nameOf(table: {
  readonly relname: string;
  getNamespace(): { readonly nspname: string } | undefined;
}): string {
  return `${table.getNamespace()?.nspname}_${table.relname}`;
}

/** The library's query reads all tables of the database. */
function narrowIntrospection(withClient: WithPgClient, oids: readonly string[]): WithPgClient {
  return (settings, callback) =>
    withClient(settings, (client) =>
      callback({
        ...client,
        query: (query) => client.query(query.text === WHOLE ? { ...query, text: NARROW, values: [oids] } : query),
      }),
    );
}

const WHOLE = makeIntrospectionQuery();
const IN_OTHERS =
  "in (select namespaces._id from namespaces where nspname <> 'information_schema' and nspname not like 'pg\\_%')";

const NARROW = [
  [
    'with\n',
    'with shown as (select class.oid, class.reltype from pg_catalog.pg_class class where class.oid = any ($1::oid[])),\n',
  ],
  [
    `where relnamespace ${IN_OTHERS}`,
    `where oid in (select oid from shown)
      or oid in (select indexrelid from pg_catalog.pg_index where indrelid in (select oid from shown))`,
  ],
  [`where connamespace ${IN_OTHERS}`, 'where conrelid in (select oid from shown)'],
  [`where pronamespace ${IN_OTHERS}`, 'where false'],
  [
    `where (typnamespace ${IN_OTHERS})\n    or (typnamespace = 'pg_catalog'::regnamespace)`,
    `where typrelid in (select oid from shown) or typelem in (select reltype from shown)
      or (typrelid = 0 and not exists (select from pg_catalog.pg_type item where item.oid = pg_type.typelem and item.typrelid <> 0))`,
  ],
].reduce((text, [whole = '', narrow = '']) => {
  if (!text.includes(whole)) throw new RangeError(`The introspection query of the library has no ${whole}`);
  return text.replace(whole, () => narrow);
}, WHOLE);
