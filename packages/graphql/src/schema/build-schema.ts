import type { ChainLookup } from '@chainstead/http';
import type { PgClient, WithPgClient } from '@dataplan/pg';
import { defaultPreset as basePreset, makeSchema } from 'graphile-build';
import { defaultPreset as postgresPreset } from 'graphile-build-pg';
import type { GraphQLSchema } from 'graphql/index.js';
import { ROWS_READ_MAX } from './event-list.ts';
import { namesPlugin } from './names-plugin.ts';
import { narrowIntrospection } from './narrow-introspection.ts';
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

/** Time to plan one operation, which blocks the process. Milliseconds. */
const PLANNING_MS = 1_000;

/** `oids` of the tables and views. `rowsReadMax`: rows of a list whose conditions or order have no index. */
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

/** Plugins for changes, functions, relations, and filters, orders and counts whose reads have no bound. */
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
