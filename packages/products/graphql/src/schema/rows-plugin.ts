import 'graphile-build-pg';
import { type PgResource, type PgSelectQueryBuilder, type PgSelectStep, pgSelect } from '@dataplan/pg';
import {
  access,
  type ConnectionStep,
  connection,
  context,
  type FieldArg,
  type FieldArgs,
  type GrafastFieldConfigArgumentMap,
  lambda,
} from 'grafast';
import type { SQL } from 'pg-sql2';
import { inCursor } from './cursor.ts';
import {
  conditionArguments,
  type EventArguments,
  mayReadMany,
  orderArgument,
  registerBounds,
  registerEventArguments,
} from './event-arguments.ts';
import { ROW } from './event-conditions.ts';
import { eventList, ROWS_READ_MAX } from './event-page.ts';
import { rowRange } from './row-range.ts';
import { BLOCK, type Finder, LOG_PLACE, type RowArguments, type RowSource, sourceOfView } from './row-sources.ts';
import { COUNT, countOf } from './total-count-plugin.ts';

const PAGE_DEFAULT = 100;

const ORDER_TYPE = 'Order';

/** SQL names are unique, whatever the ABI's names. */
export const rowsPlugin = (rowsReadMax: number): GraphileConfig.Plugin => ({
  name: 'RowsPlugin',
  version: '1.0.0',
  gather: {
    hooks: {
      pgCodecs_attribute(_info, { attribute, pgAttribute }) {
        const name = pgAttribute.attname;
        // Columns of views have no constraint. Nullable ones make the library compute whole rows.
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
          () => ({ description: 'Direction. By block, newest first is DESC.', values: { ASC: {}, DESC: {} } }),
          'Order of rows',
        );
        registerBounds(build);
        for (const resource of Object.values(build.pgResources)) {
          const source = sourceOf(resource);
          if (source !== null && isEvents(resource)) registerEventArguments(build, resource);
          else if (source !== null && source.finders.length > 0) registerWhere(build, resource, source);
        }
        return value;
      },
      GraphQLObjectType_fields(fields, build, { scope, fieldWithHooks }) {
        if (scope.isRootQuery !== true && scope.isRootSubscription !== true) return fields;
        const isLive = scope.isRootSubscription === true;
        return Object.values(build.pgResources).reduce((added, resource) => {
          const source = sourceOf(resource);
          if (source === null || (isLive && !isEvents(resource))) return added;
          const fieldName = resource.name;
          const field = fieldWithHooks({ fieldName }, () => ({
            type: build.getOutputTypeByName(build.inflection.tableConnectionType(resource.codec)),
            description: isLive ? `New rows. ${resource.description ?? ''}` : resource.description,
            args: isLive ? liveArguments(build, resource, source) : rowArguments(build, resource, source),
            ...(!isLive && {
              plan: isEvents(resource) ? planEvents(resource, source, rowsReadMax) : planRows(resource, source),
            }),
            extensions: { rowsRead: (args: Partial<EventArguments>) => rowsRead(source, args) },
          }));
          return build.extend(added, { [fieldName]: field }, `Rows of ${fieldName}`);
        }, fields);
      },
    },
  },
});

const CONTRACTS = 'contracts';

declare global {
  namespace DataplanPg {
    interface PgCodecAttributeExtensions {
      isFinder?: boolean;
    }
  }
}

function isEvents(resource: PgResource): boolean {
  return resource.extensions?.pg?.schemaName === CONTRACTS;
}

function rowsRead(source: RowSource, args: Partial<EventArguments>): number {
  return mayReadMany(source, args) ? ROWS_READ_MAX : (args.first ?? PAGE_DEFAULT);
}

function sourceOf(resource: PgResource): RowSource | null {
  const { name, schemaName } = resource.extensions?.pg ?? {};
  if (resource.parameters !== undefined || name === undefined) return null;
  if (schemaName !== CONTRACTS) return sourceOfView(name, resource.codec.attributes ?? {});
  const hasKey = resource.uniques.some(
    ({ attributes }) => attributes.join() === ['chain_id', ...LOG_PLACE].join(),
  );
  if (!hasKey) return null;
  const finders = Object.entries(resource.codec.attributes ?? {}).flatMap(([column, { extensions }]): Finder[] =>
    extensions?.isFinder === true ? [{ name: column, column, key: null, hasChain: true }] : [],
  );
  return { finders, isFound: false, order: LOG_PLACE, isPartitioned: true };
}

function whereType(resource: PgResource): string {
  return `${resource.name}Where`;
}

function registerWhere(build: GraphileBuild.Build, resource: PgResource, source: RowSource): void {
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
      ...(isEvents(resource) && orderArgument(build, resource)),
      order: {
        type: build.getInputTypeByName(ORDER_TYPE),
        defaultValue: 'DESC',
        description: 'Direction of the order, by block if no column is given.',
      },
      after: { type: build.getInputTypeByName('Cursor'), description: 'Cursor of the last row that you have.' },
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
  const chain: GrafastFieldConfigArgumentMap = {
    chain: {
      type: build.getInputTypeByName('Chain'),
      description: 'Chain by name or id. Required without chain_id.',
    },
    chain_id: {
      type: build.getInputTypeByName('BigInt'),
      description: 'Chain by decimal id. Required without chain.',
    },
  };
  if (isEvents(resource)) return { ...chain, ...conditionArguments(build, resource) };
  const type = finders.length === 0 ? null : build.getInputTypeByName(whereType(resource));
  return {
    ...chain,
    ...(type !== null && {
      where: { type: isFound ? new GraphQLNonNull(type) : type, description: 'Value that rows have.' },
    }),
  };
}

type Rows = ConnectionStep<unknown, PgSelectStep>;

type Plan = (root: unknown, given: FieldArgs) => Rows;

function planRows(resource: PgResource, source: RowSource): Plan {
  return (_root, given) => {
    const select = resource.find();
    select.apply(
      lambda(given.getRaw(), (args) => (query: PgSelectQueryBuilder) => {
        const rangeOf = (alias: SQL) => rowRange(resource, source, args as RowArguments, alias);
        const { conditions, after, order } = rangeOf(query.alias);
        for (const condition of conditions) query.where(condition);
        if (after !== null) query.where(after);
        for (const { column, codec, direction } of order)
          query.orderBy({ fragment: column, codec: inCursor(codec), direction, nullable: false });
        if (order.length > 0) query.setOrderIsUnique();
        query.setMeta(COUNT, countOf(resource, rangeOf(ROW).conditions));
      }),
    );
    return connection(select);
  };
}

function planEvents(resource: PgResource, source: RowSource, rowsReadMax: number): Plan {
  return (_root, given) => {
    const list = lambda([given.getRaw(), context().get('withPgClient')] as const, ([args, withClient]) =>
      eventList(resource, source, args as EventArguments, withClient, rowsReadMax),
    );
    const select = pgSelect({
      ...{ resource, identifiers: [] },
      from: { callback: ($select) => $select.deferredSQL(access(list, 'from')) },
    });
    select.apply(
      lambda(list, ({ applyOrder, count }) => (query: PgSelectQueryBuilder) => {
        applyOrder(query);
        query.setMeta(COUNT, count);
      }),
    );
    return connection(select);
  };
}
