import 'graphile-build-pg';
import type { ChainLookup } from '@chainstead/http';
import type { PgClient, WithPgClient } from '@dataplan/pg';
import { defaultPreset as basePreset, makeSchema } from 'graphile-build';
import { defaultPreset as postgresPreset } from 'graphile-build-pg';
import type { GraphQLSchema } from 'graphql/index.js';
import { makeIntrospectionQuery } from 'pg-introspection';
import { ROWS_READ_MAX } from './event-list.ts';
import { SHOWN_SCHEMAS } from './row-sources.ts';
import { rowsPlugin } from './rows-plugin.ts';
import { scalarsPlugin } from './scalars-plugin.ts';
import { totalCountPlugin } from './total-count-plugin.ts';

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
