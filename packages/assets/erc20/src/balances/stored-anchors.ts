import type { Chain } from '@chainstead/chains';
import { addressBytes, hexText, type ReadDatabase, sql } from '@chainstead/db';
import type { Holding } from './holding.ts';

export interface StoredAnchor extends Holding {
  /** -1: no read. */
  readonly block: number;
  /** Base units; null: never read, or doubted since. */
  readonly value: bigint | null;
  /**
   * Reads confirmed the transfers, a list verifies the token, or it is the wrapped native token.
   */
  readonly addsUp: boolean;
  /** Transfers don't determine its balances, or the contract has none. */
  readonly isLive: boolean;
  readonly isOld: boolean;
  readonly createdBlock: number | null;
}

/** In any order. Missing without a stored row, unless the token has a class. */
export async function readStoredAnchors(
  database: ReadDatabase,
  { id, wrappedNative }: Chain,
  holdings: readonly Holding[],
): Promise<readonly StoredAnchor[]> {
  const accounts = sql`${holdings.map(({ account }) => addressBytes(account))}::bytea[]`;
  const tokens = sql`${holdings.map(({ token }) => addressBytes(token))}::bytea[]`;
  const rows = await database.select<
    Omit<StoredAnchor, 'value' | 'addsUp' | 'isLive'> & {
      value: string | null;
      class: 'sum' | 'live' | 'none' | 'new';
      isListed: boolean;
    }
  >(
    sql`WITH requested AS MATERIALIZED (SELECT * FROM unnest(${accounts}, ${tokens}) AS given(account, token)),
held AS MATERIALIZED (SELECT wallet, token, anchor_block, anchor_value, anchored_at FROM erc20_wallet_tokens
  WHERE wallet = ANY (${accounts}) AND chain_id = ${id}::bigint AND token = ANY (${tokens})),
classes AS MATERIALIZED (SELECT token, class FROM erc20_token_classes WHERE token = ANY (${tokens}) AND chain_id = ${id}::bigint),
facts AS MATERIALIZED (SELECT address AS token, verified, created_block FROM tokens WHERE address = ANY (${tokens}) AND chain_id = ${id}::bigint)
SELECT ${hexText('requested.account')} AS account, ${hexText('requested.token')} AS token, coalesce(anchor_block, -1)::int AS block,
  CASE WHEN anchored_at IS NOT NULL THEN anchor_value::text END AS value, coalesce(anchored_at < now() - interval '24 hours', false) AS "isOld",
  coalesce(class, 'new') AS class, coalesce(facts.verified, false) AS "isListed", facts.created_block
FROM requested LEFT JOIN held ON held.wallet = requested.account AND held.token = requested.token
  LEFT JOIN classes ON classes.token = requested.token LEFT JOIN facts ON facts.token = requested.token`,
  );
  return rows.map(({ value, class: kind, isListed, ...row }) => ({
    ...row,
    value: value === null ? null : BigInt(value),
    // Without its deposits and withdrawals, its reads can't be compared.
    addsUp: kind === 'sum' || (kind === 'new' && (isListed || row.token === wrappedNative)),
    isLive: kind === 'live' || kind === 'none',
  }));
}
