import 'graphile-build-pg';
import type { PgResource, PgSelectStep, WithPgClient } from '@dataplan/pg';
import { type ConnectionStep, context, lambda } from 'grafast';
import { type SQL, sql } from 'pg-sql2';
import { ROW } from './event-conditions.ts';
import { tableOf } from './row-sources.ts';

export const COUNT_MAX = 10_000;

export const COUNT = 'count';

export const TOTAL_COUNT = 'totalCount';

const TYPE = 'TotalCount';

export const totalCountPlugin: GraphileConfig.Plugin = {
  name: 'TotalCountPlugin',
  version: '1.0.0',
  schema: {
    hooks: {
      init(value, build) {
        const { GraphQLBoolean, GraphQLInt, GraphQLNonNull } = build.graphql;
        build.registerObjectType(
          TYPE,
          {},
          () => ({
            description: 'Number of rows.',
            fields: {
              count: {
                type: new GraphQLNonNull(GraphQLInt),
                description: `Rows that match. At most ${COUNT_MAX} are counted.`,
              },
              isExact: {
                type: new GraphQLNonNull(GraphQLBoolean),
                description: 'Whether these are all rows. Otherwise there are at least so many.',
              },
            },
          }),
          'Number of rows',
        );
        return value;
      },
      GraphQLObjectType_fields(fields, build, { scope, fieldWithHooks }) {
        if (scope.isConnectionType !== true || scope.isPgConnectionRelated !== true) return fields;
        const { GraphQLNonNull } = build.graphql;
        const field = fieldWithHooks({ fieldName: TOTAL_COUNT }, () => ({
          description: 'Number of rows of all pages.',
          type: new GraphQLNonNull(build.getOutputTypeByName(TYPE)),
          plan($connection: ConnectionStep<unknown, PgSelectStep>) {
            const select = $connection.getSubplan() as unknown as PgSelectStep;
            return lambda(
              [select.getMeta(COUNT), context().get('withPgClient')] as const,
              ([statement, withClient]) => readCount(statement as SQL, withClient),
            );
          },
        }));
        return build.extend(fields, { [TOTAL_COUNT]: field }, 'Number of rows');
      },
    },
  },
};

export function countOf(resource: PgResource, conditions: readonly SQL[]): SQL {
  const all = conditions.map((condition) => sql`(${condition})`);
  return sql`SELECT count(*) AS count, false AS is_cut FROM (
    SELECT FROM ${tableOf(resource)} AS ${ROW} WHERE ${sql.join(all, ' AND ')} LIMIT ${sql.literal(COUNT_MAX + 1)}) AS counted`;
}

async function readCount(statement: SQL, withClient: WithPgClient) {
  const { text, values } = sql.compile(statement);
  const { rows } = await withClient(null, (client) =>
    client.query<{ count: string; is_cut: boolean }>({ text, values }),
  );
  const [row] = rows;
  if (row === undefined) throw new RangeError('A count has no row');
  const found = Number(row.count);
  return { count: Math.min(found, COUNT_MAX), isExact: !row.is_cut && found <= COUNT_MAX };
}
