import type { Chain } from '@chainstead/chains';
import type { Address, Fraction } from '@chainstead/core';
import { hexBytes, hexText, type ReadDatabase, type Sql, sql } from '@chainstead/db';
import {
  type PackedTokens,
  readTokens,
  type TokenBook,
  tokenBook,
  tokensOf,
} from '@chainstead/tokens/token-book';
import { type BlockTime, readAnchorBook } from '../anchors/anchor-steps.ts';
import { nativeTokenOf } from '../anchors/anchors-of-chain.ts';
import type { PoolId, PoolState } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-key.ts';
import { pricesInPool, wholePriceOf } from '../pools/prices-in-pool.ts';
import { poolStateOf, STATE_COLUMNS, type StateColumns } from '../pools/stored-state.ts';

export interface Pair {
  readonly exchange: string | null;
  readonly factory: Address | null;
  readonly tokens: readonly [Address, Address] | null;
  readonly isStable: boolean | null;
  readonly tickSpacing: number | null;
  readonly state: PoolState | null;
  readonly newest: BlockTime | null;
  readonly tokenOf: TokenBook;
}

export async function getPair(database: ReadDatabase, chain: Chain, pool: PoolId): Promise<Pair | null> {
  const [row] = await database.select<
    Pick<Pair, 'exchange' | 'factory' | 'isStable' | 'tickSpacing'> &
      StateColumns & {
        readonly token0: Address | null;
        readonly token1: Address | null;
        readonly block: number | null;
        readonly time: number | null;
        readonly tokens: PackedTokens;
      }
  >(pairStatement(chain, pool));
  if (row === undefined) return null;
  const { exchange, factory, isStable, tickSpacing, token0, token1, block, time } = row;
  return {
    ...{ exchange, factory, isStable, tickSpacing },
    tokens: token0 === null || token1 === null ? null : [token0, token1],
    state: poolStateOf(row),
    newest: block === null || time === null ? null : { block, time },
    tokenOf: tokenBook(readTokens(row.tokens), nativeTokenOf(chain)),
  };
}

/** US dollars per whole token; null: unknown. */
export async function readPairPrices(
  database: ReadDatabase,
  chain: Chain,
  { tokens, newest, state, tokenOf, ...pool }: Pair,
): Promise<readonly [Fraction | null, Fraction | null]> {
  if (tokens === null || newest === null) return [null, null];
  const anchors = await readAnchorBook(database, chain, tokens, [newest]);
  const decimals = [tokenOf(tokens[0]).decimals, tokenOf(tokens[1]).decimals] as const;
  const ratio = state === null ? null : wholePriceOf(state, { ...pool, decimals });
  return pricesInPool(chain, tokens, ratio, (token) => anchors(token, newest));
}

function pairStatement(chain: Chain, pool: PoolId): Sql {
  const chainId = sql`${chain.id}::bigint`;
  const ofPool = sql`pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chainId} AND pool = ${hexBytes(pool)}::bytea`;
  return sql`WITH pair AS MATERIALIZED (
  SELECT exchange, factory, token0, token1, is_stable, tick_spacing FROM pools
  WHERE ${ofPool} AND status = 'proven' AND is_counted
), state AS MATERIALIZED (
  SELECT ${STATE_COLUMNS} FROM pool_states
  WHERE ${ofPool} ORDER BY block_number DESC LIMIT 1
), newest AS MATERIALIZED (
  SELECT block_number AS block, extract(epoch FROM block_timestamp)::float8 AS time FROM blocks
  WHERE chain_id = ${chainId} ORDER BY block_number DESC LIMIT 1
)
SELECT exchange, ${hexText('factory')} AS factory, ${hexText('token0')} AS token0, ${hexText('token1')} AS token1, is_stable, tick_spacing, state.*, newest.*,
  ${tokensOf(sql`SELECT token0 FROM pair UNION SELECT token1 FROM pair`, chainId)} AS tokens
FROM pair LEFT JOIN state ON true LEFT JOIN newest ON true`;
}
