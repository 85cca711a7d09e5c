import type { Chain } from '@chainstead/chains';
import type { Address, Hex } from '@chainstead/core';
import { addressBytes, type Bind, hexTextOld, type ReadDatabase, type Statement } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';

/** A proven pool of a token against an anchor. */
export interface PoolOfToken {
  /** Address of the pool. */
  readonly pool: Hex;
  readonly exchange: string;
  readonly factory: Address;
  readonly token0: Address;
  readonly token1: Address;
  readonly isStable: boolean | null;
  /** Ticks, or basis points between bins; null: neither. */
  readonly tickSpacing: number | null;
}

/** The wanted pools: of these tokens, a wrapped native token also as the native one, against these anchors at these factories. */
type PoolsQuery = Readonly<Record<'forms' | 'anchors' | 'factories', readonly Address[]>>;

/** Returns the pools of tokens against anchors, in one statement. */
export async function readPoolsOfTokens(
  database: ReadDatabase,
  chain: Chain,
  query: PoolsQuery,
): Promise<readonly PoolOfToken[]> {
  const { text, values } = poolsStatement(chain, query);
  const rows = await database.select<PoolRow>(text, values);
  return rows.map(({ is_stable: isStable, tick_spacing: tickSpacing, ...pool }) => ({
    ...pool,
    isStable,
    tickSpacing,
  }));
}

/**
 * Builds the statement: two ranges of an index for each token and anchor (pools-of-token.explain.test.ts). Each factory has few pools of two
 * tokens, and of those at pool managers all but a few are left out. Pools against other tokens are not read, however many there are.
 */
export function poolsStatement(chain: Chain, { forms, anchors, factories }: PoolsQuery): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const chainId = `${bind(chain.id)}::bigint`;
  const [wanted, others, known] = [forms, anchors, factories].map((list) => `${bind(list.map(addressBytes))}::bytea[]`);
  const [keys, otherKeys] = [forms, anchors].map((list) => `${bind(list.map(addressKey))}::bigint[]`);
  const ranges = [
    ['token0', 'token1'],
    ['token1', 'token0'],
  ].map(
    ([own, other]) =>
      `SELECT pool, exchange, factory, token0, token1, is_stable, tick_spacing FROM pools WHERE address_key(${own}) = ANY (${keys})
         AND address_key(${other}) = ANY (${otherKeys}) AND chain_id = ${chainId} AND status = 'proven' AND is_counted AND left_out IS NULL AND ${own} = ANY (${wanted})
         AND ${other} = ANY (${others}) AND factory = ANY (${known})`,
  );
  const columns = ['pool', 'factory', 'token0', 'token1']
    .map((column) => `${hexTextOld(column)} AS ${column}`)
    .join(', ');
  const text = `SELECT ${columns}, exchange, is_stable, tick_spacing FROM (${ranges.join(' UNION ALL ')}) AS found ORDER BY found.pool`;
  return { text, values };
}

interface PoolRow extends Omit<PoolOfToken, 'isStable' | 'tickSpacing'> {
  readonly is_stable: boolean | null;
  readonly tick_spacing: number | null;
}
