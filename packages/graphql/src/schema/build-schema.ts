import type { PgClient, WithPgClient } from '@dataplan/pg';
import { defaultPreset as basePreset, makeSchema } from 'graphile-build';
import { defaultPreset as postgresPreset } from 'graphile-build-pg';
import type { GraphQLSchema } from 'graphql/index.js';
import { namesPlugin } from './names-plugin.ts';
import { narrowIntrospection } from './narrow-introspection.ts';
import { rowsPlugin } from './rows-plugin.ts';
import { scalarsPlugin } from './scalars-plugin.ts';
import { SHOWN_SCHEMAS } from './shown-schemas.ts';

/** A schema, with the settings that executions need. */
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

/**
 * Builds the GraphQL schema of tables and views that the role can read.
 * @param withClient connection for introspection
 * @param oids of the tables and views
 */
export async function buildSchema(withClient: WithPgClient, oids: readonly string[]): Promise<BuiltSchema> {
  const narrow = narrowIntrospection(withClient, oids);
  const { schema, resolvedPreset } = await makeSchema({
    extends: [basePreset, postgresPreset],
    plugins: [namesPlugin, scalarsPlugin, rowsPlugin],
    disablePlugins: NOT_WANTED,
    pgServices: [
      {
        name: 'main',
        schemas: [...SHOWN_SCHEMAS],
        withPgClientKey: 'withPgClient',
        adaptor: { createWithPgClient: () => narrow, makePgService: refuseService },
        adaptorSettings: undefined,
      },
    ],
    schema: { pgForbidSetofFunctionsToReturnNull: true },
    grafast: { explain: false, timeouts: { planning: PLANNING_MS } },
  });
  return { schema, preset: resolvedPreset };
}

function refuseService(): never {
  throw new TypeError('The service is given, not made');
}

/** Plugins for changes, functions, relations, arbitrary filters and orders: their reads have no bound. */
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
