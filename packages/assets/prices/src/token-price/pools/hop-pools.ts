import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { POOL_COLUMNS, type PoolOfToken } from './pools-of-token.ts';

/** A token with more pools has no hop: anyone can create pools. */
export const HOP_POOLS_MAX = 64;
const TOGETHER_MAX = 1_000;
const FORMS_PER_STATEMENT = 128;

export type PoolsByForm = ReadonlyMap<Address, readonly PoolOfToken[] | null>;

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
const COLUMNS = sql`${POOL_COLUMNS}, is_counted AND left_out IS NULL AS "isCounted"`;
