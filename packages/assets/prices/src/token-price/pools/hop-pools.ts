import type { Chain } from '@chainstead/chains';
import type { Address, Hex } from '@chainstead/core';
import { addressBytes, hexText, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';

/** A token with more pools has no hop: anyone can create pools. */
export const HOP_POOLS_MAX = 64;
const TOGETHER_MAX = 1_000;
const FORMS_PER_STATEMENT = 128;

type PoolsByForm = ReadonlyMap<Address, readonly PoolOfToken[] | null>;

/** Reads up to {@link HOP_POOLS_MAX} + 1 rows per token and side. */
export async function readHopPools(
  database: ReadDatabase,
  chain: Pick<Chain, 'id'>,
  forms: readonly Address[],
): Promise<PoolsByForm> {
  const select = (statement: Sql) => database.select<PoolOfToken & { readonly isCounted: boolean }>(statement);
  const together = await select(togetherStatement(chain, forms));
  const isWhole = together.length <= TOGETHER_MAX;
  const rows = isWhole ? [...together] : [];
  for (let start = 0; !isWhole && start < forms.length; start += FORMS_PER_STATEMENT)
    rows.push(...(await select(hopPoolsStatement(chain, forms.slice(start, start + FORMS_PER_STATEMENT)))));
  return new Map(
    forms.map((form) => {
      const own = rows.filter(({ token0, token1 }) => token0 === form || token1 === form);
      const counted = own.filter(({ isCounted }) => isCounted).map(({ isCounted: _, ...pool }) => pool);
      return [form, own.length > HOP_POOLS_MAX ? null : counted];
    }),
  );
}

/** For few pools: a range for each token and side, and one limit for all. */
export function togetherStatement({ id }: Pick<Chain, 'id'>, forms: readonly Address[]): Sql {
  const [chainId, keys] = [sql`${id}::bigint`, sql`${forms.map(addressKey)}::bigint[]`];
  const ranges = SIDES.map(
    (side) =>
      sql`(SELECT ${COLUMNS} FROM pools WHERE address_key(${side}) = ANY (${keys}) AND chain_id = ${chainId} AND status = 'proven' LIMIT ${rawSql(TOGETHER_MAX + 1)})`,
  );
  return joinSql(ranges, ' UNION ALL ');
}

/** A limit for each token and side. Filters come later, so that it bounds the rows read. */
export function hopPoolsStatement({ id }: Pick<Chain, 'id'>, forms: readonly Address[]): Sql {
  const chainId = sql`${id}::bigint`;
  const ranges = forms.flatMap((form) => {
    const key = sql`${addressKey(form)}::bigint`;
    return SIDES.map(
      (side) =>
        sql`(SELECT ${COLUMNS} FROM pools WHERE address_key(${side}) = ${key} AND chain_id = ${chainId} AND status = 'proven' LIMIT ${rawSql(HOP_POOLS_MAX + 1)})`,
    );
  });
  return joinSql(ranges, ' UNION ALL ');
}

const SIDES = [sql`token0`, sql`token1`];
const POOL_COLUMNS: Sql = joinSql([
  ...['pool', 'factory', 'token0', 'token1'].map((column) => sql`${hexText(column)} AS ${rawSql(column)}`),
  sql`exchange, is_stable, tick_spacing`,
]);

const COLUMNS = sql`${POOL_COLUMNS}, is_counted AND left_out IS NULL AS "isCounted"`;

export interface PoolOfToken {
  readonly pool: Hex;
  readonly exchange: string;
  readonly factory: Address;
  readonly token0: Address;
  readonly token1: Address;
  readonly isStable: boolean | null;
  /** Ticks, or basis points between bins; null: neither. */
  readonly tickSpacing: number | null;
}

type PoolsQuery = Readonly<Record<'forms' | 'anchors' | 'factories', readonly Address[]>>;

export async function readPoolsOfTokens(
  database: ReadDatabase,
  chain: Chain,
  query: PoolsQuery,
): Promise<readonly PoolOfToken[]> {
  return database.select<PoolOfToken>(poolsStatement(chain, query));
}

/** Two index ranges for each token and anchor (pools-of-token.explain.test.ts). */
export function poolsStatement(chain: Chain, { forms, anchors, factories }: PoolsQuery): Sql {
  const chainId = sql`${chain.id}::bigint`;
  const bytesOf = (list: readonly Address[]) => sql`${list.map(addressBytes)}::bytea[]`;
  const keysOf = (list: readonly Address[]) => sql`${list.map(addressKey)}::bigint[]`;
  const [wanted, others, known] = [bytesOf(forms), bytesOf(anchors), bytesOf(factories)];
  const [keys, otherKeys] = [keysOf(forms), keysOf(anchors)];
  const [token0, token1] = [sql`token0`, sql`token1`];
  // Invariant: PRICE-PROVEN-POOLS
  const ranges = [
    { own: token0, other: token1 },
    { own: token1, other: token0 },
  ].map(
    ({ own, other }) =>
      sql`SELECT pool, exchange, factory, token0, token1, is_stable, tick_spacing FROM pools WHERE address_key(${own}) = ANY (${keys})
         AND address_key(${other}) = ANY (${otherKeys}) AND chain_id = ${chainId} AND status = 'proven' AND is_counted AND left_out IS NULL AND ${own} = ANY (${wanted})
         AND ${other} = ANY (${others}) AND factory = ANY (${known})`,
  );
  return sql`SELECT ${POOL_COLUMNS} FROM (${joinSql(ranges, ' UNION ALL ')}) AS found ORDER BY found.pool`;
}
