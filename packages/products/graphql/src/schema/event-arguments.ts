import 'graphile-build-pg';
import type { PgCodec, PgResource } from '@dataplan/pg';
import type { GrafastFieldConfigArgumentMap } from 'grafast';
import type { GraphQLInputFieldConfigMap } from 'graphql/index.js';
import type { RowArguments, RowSource } from './row-sources.ts';

export interface EventArguments extends RowArguments {
  readonly where?: Members<unknown>;
  readonly in?: Members<readonly unknown[]>;
  readonly range?: Members<Members<unknown>>;
  readonly orderBy?: string | null | undefined;
  readonly first: number;
}

type Members<Value> = Readonly<Record<string, Value | null>> | null | undefined;

/** No collisions: names of tables are in lower case. */
const TYPES = { where: 'Where', in: 'In', range: 'Range', orderBy: 'OrderBy' } as const;

const DESCRIPTIONS = {
  where: 'Values that rows have, by column. All members apply.',
  in: 'Values of which rows have one, by column. All members apply.',
  range: 'Bounds of values, by column. All members apply.',
  orderBy:
    'Column to order by. Rows with equal values are ordered by block and log, rows without a value come last.',
} as const;

const RANGED: ReadonlySet<string> = new Set(['int4', 'int8', 'numeric', 'timestamptz']);
const COMPARED: ReadonlySet<string> = new Set([...RANGED, 'bytea', 'bool', 'text']);

function columnsOf(resource: PgResource, types: ReadonlySet<string>): readonly (readonly [string, PgCodec])[] {
  return Object.entries(resource.codec.attributes ?? {}).flatMap(([name, { codec }]) =>
    types.has(codec.name) && !NOT_CONDITIONS.has(name) ? [[name, codec] as const] : [],
  );
}

const NOT_CONDITIONS: ReadonlySet<string> = new Set(['chain_id', 'undecoded']);

export function registerEventArguments(build: GraphileBuild.Build, resource: PgResource): void {
  const { GraphQLList, GraphQLNonNull } = build.graphql;
  const register = (argument: 'where' | 'in' | 'range', fields: () => GraphQLInputFieldConfigMap): void =>
    build.registerInputObjectType(
      resource.name + TYPES[argument],
      {},
      () => ({ description: DESCRIPTIONS[argument], fields }),
      'Conditions of rows',
    );
  const compared = columnsOf(resource, COMPARED);
  register('where', () =>
    Object.fromEntries(compared.map(([name, codec]) => [name, { type: inputOf(build, codec) }])),
  );
  register('in', () =>
    Object.fromEntries(
      compared.map(([name, codec]) => [
        name,
        { type: new GraphQLList(new GraphQLNonNull(inputOf(build, codec))) },
      ]),
    ),
  );
  register('range', () =>
    Object.fromEntries(
      columnsOf(resource, RANGED).map(([name, codec]) => [
        name,
        { type: build.getInputTypeByName(`${inputName(build, codec)}Bounds`) },
      ]),
    ),
  );
  build.registerEnumType(
    resource.name + TYPES.orderBy,
    {},
    () => ({
      description: DESCRIPTIONS.orderBy,
      values: Object.fromEntries(compared.map(([name]) => [name, { value: name }])),
    }),
    'Columns of an order',
  );
}

export function registerBounds(build: GraphileBuild.Build): void {
  for (const scalar of ['Int', 'BigInt', 'BigFloat', 'Datetime'])
    build.registerInputObjectType(
      `${scalar}Bounds`,
      {},
      () => ({
        description: 'Bounds of a value: `gte` and `lte` are inclusive.',
        fields: () =>
          Object.fromEntries(
            ['gte', 'gt', 'lte', 'lt'].map((name) => [name, { type: build.getInputTypeByName(scalar) }]),
          ),
      }),
      'Bounds of values',
    );
}

export function conditionArguments(
  build: GraphileBuild.Build,
  resource: PgResource,
): GrafastFieldConfigArgumentMap {
  return Object.fromEntries(
    (['where', 'in', 'range'] as const).map((name) => [name, argumentOf(build, resource, name)]),
  );
}

export function orderArgument(build: GraphileBuild.Build, resource: PgResource): GrafastFieldConfigArgumentMap {
  return { orderBy: argumentOf(build, resource, 'orderBy') };
}

function argumentOf(build: GraphileBuild.Build, resource: PgResource, name: keyof typeof TYPES) {
  return { type: build.getInputTypeByName(resource.name + TYPES[name]), description: DESCRIPTIONS[name] };
}

export function mayReadMany(
  { finders }: RowSource,
  { where, in: lists, range, orderBy }: Partial<EventArguments>,
): boolean {
  const columns = Object.keys(where ?? {});
  const [column, ...others] = columns;
  return (
    others.length > 0 ||
    lists != null ||
    range != null ||
    orderBy != null ||
    (column !== undefined && finders.every(({ name }) => name !== column))
  );
}

function inputName(build: GraphileBuild.Build, codec: PgCodec): string {
  const name = build.getGraphQLTypeNameByPgCodec(codec, 'input');
  if (name === null) throw new RangeError(`The type ${codec.name} has no input type`);
  return name;
}

function inputOf(build: GraphileBuild.Build, codec: PgCodec) {
  return build.getInputTypeByName(inputName(build, codec));
}
