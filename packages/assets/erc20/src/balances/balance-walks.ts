import type { Chain } from '@chainstead/chains';
import { addressBytes, expectedTrue, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { MOVED_DELTA, MOVED_TABLES } from '../moved-tables.ts';
import { erc20TransfersTable } from '../transfers/row-table.ts';
import type { Holding } from './holding.ts';

/** Bounds the cost of an account with millions of transfers. */
export const WALK_MAX = 500;

export interface Walk extends Holding {
  readonly order: 'ASC' | 'DESC';
  /** At the end of the block `after` for `ASC`, `to` for `DESC`. */
  readonly known: bigint;
  /** Exclusive; `to` is inclusive. */
  readonly after: number;
  readonly to: number;
}

export interface Step {
  readonly block: number;
  readonly transactionIndex: number;
  readonly delta: bigint;
}

/** By the walk's index: at most {@link WALK_MAX} + 1 each. */
export async function readSteps(
  database: ReadDatabase,
  chain: Chain,
  walks: readonly Walk[],
  isSpread: boolean,
): Promise<ReadonlyMap<number, readonly Step[]>> {
  if (walks.length === 0) return new Map();
  const rows = await database.select<{ readonly index: number; readonly steps: string | null }>(
    stepsStatement(chain, walks, isSpread),
  );
  return new Map(rows.map(({ index, steps }) => [index, steps === null ? [] : steps.split(',').map(parsedStep)]));
}

export function stepsStatement(chain: Chain, walks: readonly Walk[], isSpread: boolean): Sql {
  const indexed = walks.map((walk, index) => ({ ...walk, index, isCoin: walk.token === chain.wrappedNative }));
  // Citus refuses a limit that depends on another relation.
  const parts = isSpread
    ? indexed.map(
        (walk) =>
          sql`SELECT ${walk.index}::int AS index, read.* FROM ${stepsInSql(chain, walk, boundWalk(walk))} AS read`,
      )
    : [...Map.groupBy(indexed, ({ order, isCoin }) => `${order} ${isCoin}`).values()].flatMap((group) =>
        group[0] === undefined
          ? []
          : sql`SELECT walk.index, read.* FROM unnest(${group.map(({ index }) => index)}::int[], ${group.map(({ account }) => addressKey(account))}::bigint[],
    ${group.map(({ account }) => addressBytes(account))}::bytea[], ${group.map(({ token }) => addressBytes(token))}::bytea[],
    ${group.map(({ after }) => after)}::bigint[], ${group.map(({ to }) => to)}::bigint[]) AS walk(index, account_key, account, token, after_block, to_block)
  CROSS JOIN LATERAL ${stepsInSql(chain, group[0], WALK_COLUMNS)} AS read`,
      );
  return joinSql(parts, ' UNION ALL ');
}

function parsedStep(text: string): Step {
  const [block, transactionIndex, delta = ''] = text.split(' ');
  return { block: Number(block), transactionIndex: Number(transactionIndex), delta: BigInt(delta) };
}

type WalkInSql = Readonly<Record<'accountKey' | 'account' | 'token' | 'after' | 'to', Sql>>;

const WALK_COLUMNS: WalkInSql = {
  accountKey: rawSql('walk.account_key'),
  account: rawSql('walk.account'),
  token: rawSql('walk.token'),
  after: rawSql('walk.after_block'),
  to: rawSql('walk.to_block'),
};

function boundWalk({ account, token, after, to }: Walk): WalkInSql {
  return {
    accountKey: sql`${addressKey(account)}::bigint`,
    account: sql`${addressBytes(account)}::bytea`,
    token: sql`${addressBytes(token)}::bytea`,
    after: sql`${after}::bigint`,
    to: sql`${to}::bigint`,
  };
}

/** One range of the index by token. The expected condition keeps the planner from sorting. */
function stepsInSql(
  chain: Chain,
  { order, isCoin }: { readonly order: Walk['order']; readonly isCoin: boolean },
  { accountKey, account, token, after, to }: WalkInSql,
): Sql {
  const direction = rawSql(order);
  const ranges = (isCoin ? MOVED_TABLES : [erc20TransfersTable]).map(
    ({ name }) => sql`SELECT block_number, transaction_index, direction, value FROM ${rawSql(name)}
      WHERE account_key = ${accountKey} AND chain_id = ${chain.id}::bigint AND token_key(token) = token_key(${token})
        AND block_number > ${after} AND block_number <= ${to} AND ${expectedTrue(sql`account = ${account} AND token = ${token}`)}`,
  );
  return sql`(SELECT string_agg(block_number || ' ' || transaction_index || ' ' || delta, ',' ORDER BY block_number ${direction}) AS steps
    FROM (SELECT block_number, transaction_index, ${MOVED_DELTA} AS delta FROM (${joinSql(ranges, ' UNION ALL ')}) AS moved
      ORDER BY block_number ${direction} LIMIT ${rawSql(WALK_MAX + 1)}) AS nearest)`;
}
