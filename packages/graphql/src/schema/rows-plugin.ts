import 'graphile-build-pg';
import type { PgResource, PgSelectQueryBuilder, PgSelectStep } from '@dataplan/pg';
import {
  type ConnectionStep,
  connection,
  type FieldArg,
  type FieldArgs,
  type GrafastFieldConfigArgumentMap,
  lambda,
} from 'grafast';
import { applyRange, type RowArguments } from './row-range.ts';
import { BLOCK, type Finder, LOG_PLACE, type RowSource, VIEW_SOURCES } from './row-sources.ts';

/** Rows of a page without `first`. */
export const PAGE_DEFAULT = 100;

const ORDER_TYPE = 'Order';

/**
 * Adds a field for the rows of each table and view to queries, and of each table to subscriptions. Each field reads one range of an index. Tables
 * and columns have their SQL names: those are unique, whatever names the ABI of a contract has.
 */
export const rowsPlugin: GraphileConfig.Plugin = {
  name: 'RowsPlugin',
  version: '1.0.0',
  gather: {
    hooks: {
      pgCodecs_attribute(_info, { attribute, pgAttribute }) {
        const name = pgAttribute.attname;
        // Columns of views have no constraint. With one that is never null, the whole row is not computed to find out whether there is one.
        if (name === 'chain_id') attribute.notNull = true;
        const isFinder = pgAttribute
          .getClass()
          ?.getIndexes()
          .some(
            (index) =>
              index.indpred == null &&
              index.indisvalid === true &&
              index
                .getKeys()
                .map((key) => key?.attname)
                .join() === [name, 'chain_id', ...LOG_PLACE].join(),
          );
        if (isFinder === true) attribute.extensions = { ...attribute.extensions, isFinder };
      },
    },
  },
  schema: {
    hooks: {
      init(value, build) {
        build.registerEnumType(
          ORDER_TYPE,
          {},
          () => ({ description: 'By block: newest first is DESC.', values: { ASC: {}, DESC: {} } }),
          'Order of rows',
        );
        for (const resource of Object.values(build.pgResources)) registerWhere(build, resource);
        return value;
      },
      GraphQLObjectType_fields(fields, build, { scope, fieldWithHooks }) {
        if (scope.isRootQuery !== true && scope.isRootSubscription !== true) return fields;
        const isLive = scope.isRootSubscription === true;
        return Object.values(build.pgResources).reduce((added, resource) => {
          const source = sourceOf(resource);
          if (source === null || (isLive && schemaOf(resource) !== CONTRACTS)) return added;
          const fieldName = resource.name;
          const field = fieldWithHooks({ fieldName }, () => ({
            type: build.getOutputTypeByName(build.inflection.tableConnectionType(resource.codec)),
            description: isLive ? `New rows. ${resource.description ?? ''}` : resource.description,
            args: isLive ? liveArguments(build, resource, source) : rowArguments(build, resource, source),
            ...(!isLive && { plan: (_root, given) => planRows(resource, source, given) }),
          }));
          return build.extend(added, { [fieldName]: field }, `Rows of ${fieldName}`);
        }, fields);
      },
    },
  },
};

const CONTRACTS = 'contracts';

declare global {
  namespace DataplanPg {
    interface PgCodecAttributeExtensions {
      /** Whether an index leads from the column to the rows of a chain, in their order. */
      isFinder?: boolean;
    }
  }
}

function schemaOf(resource: PgResource): string | undefined {
  return resource.extensions?.pg?.schemaName;
}

/** Returns null if the rows can't be read. */
function sourceOf(resource: PgResource): RowSource | null {
  const { name, schemaName } = resource.extensions?.pg ?? {};
  if (resource.parameters !== undefined || name === undefined) return null;
  if (schemaName !== CONTRACTS) return VIEW_SOURCES.get(name) ?? null;
  const hasKey = resource.uniques.some(({ attributes }) => attributes.join() === ['chain_id', ...LOG_PLACE].join());
  if (!hasKey) return null;
  const finders = Object.entries(resource.codec.attributes ?? {}).flatMap(([column, { extensions }]): Finder[] =>
    extensions?.isFinder === true ? [{ name: column, column, key: null, hasChain: true }] : [],
  );
  return { finders, isFound: false, order: LOG_PLACE, isPartitioned: false };
}

function whereType(resource: PgResource): string {
  return `${resource.name}Where`;
}

function registerWhere(build: GraphileBuild.Build, resource: PgResource): void {
  const source = sourceOf(resource);
  if (source === null || source.finders.length === 0) return;
  build.registerInputObjectType(
    whereType(resource),
    {},
    () => ({
      description: 'The value that rows have: exactly one member.',
      isOneOf: true,
      fields: Object.fromEntries(
        source.finders.map(({ name, column }) => {
          const codec = resource.codec.attributes?.[column]?.codec;
          const type = codec === undefined ? null : build.getGraphQLTypeNameByPgCodec(codec, 'input');
          if (type === null) throw new RangeError(`The column ${column} of ${resource.name} has no type`);
          return [name, { type: build.getInputTypeByName(type) }];
        }),
      ),
    }),
    'Value that finds rows',
  );
}

function rowArguments(
  build: GraphileBuild.Build,
  resource: PgResource,
  source: RowSource,
): GrafastFieldConfigArgumentMap {
  const { GraphQLInt, GraphQLNonNull } = build.graphql;
  const block = build.getInputTypeByName('BigInt');
  return {
    ...chainAndWhere(build, resource, source),
    ...(source.order[0] === BLOCK && {
      from_block: { type: block, description: 'First block.' },
      to_block: { type: block, description: 'Last block.' },
    }),
    ...(source.order.length > 0 && {
      order: { type: build.getInputTypeByName(ORDER_TYPE), defaultValue: 'DESC', description: 'Order by block.' },
      after: {
        type: build.getInputTypeByName('Cursor'),
        description: 'Cursor of the last row that you have.',
      },
    }),
    first: {
      type: new GraphQLNonNull(GraphQLInt),
      defaultValue: PAGE_DEFAULT,
      description: 'Rows: at most 1000.',
      applyPlan: (_root: unknown, rows: Rows, given: FieldArg) => rows.setFirst(given.getRaw()),
    },
  };
}

function liveArguments(
  build: GraphileBuild.Build,
  resource: PgResource,
  source: RowSource,
): GrafastFieldConfigArgumentMap {
  return {
    ...chainAndWhere(build, resource, source),
    after_block: {
      type: build.getInputTypeByName('BigInt'),
      description: 'Last block that you have. Default: the newest block.',
    },
  };
}

function chainAndWhere(
  build: GraphileBuild.Build,
  resource: PgResource,
  { finders, isFound }: RowSource,
): GrafastFieldConfigArgumentMap {
  const { GraphQLNonNull } = build.graphql;
  const type = finders.length === 0 ? null : build.getInputTypeByName(whereType(resource));
  return {
    chain_id: { type: new GraphQLNonNull(build.getInputTypeByName('BigInt')), description: 'Id of the chain: 1.' },
    ...(type !== null && {
      where: { type: isFound ? new GraphQLNonNull(type) : type, description: 'Value that rows have.' },
    }),
  };
}

type Rows = ConnectionStep<unknown, PgSelectStep>;

function planRows(resource: PgResource, source: RowSource, given: FieldArgs): Rows {
  const select = resource.find();
  const range = lambda(given.getRaw(), (args) => (query: PgSelectQueryBuilder) => {
    applyRange(query, resource, source, args as RowArguments);
  });
  select.apply(range);
  return connection(select);
}
