import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, hexText, type ReadDatabase, sql } from '@chainstead/db';
import type { Holding } from './holding.ts';

/** The stored contract read of a holding. */
export interface StoredAnchor extends Holding {
  /** Block of the read; -1 without one. */
  readonly block: number;
  /** Base units; null: never read, or doubted since. */
  readonly value: bigint | null;
  /** Whether transfers are trusted: reads confirmed them, a list verifies the token, or it is the wrapped native token. */
  readonly addsUp: boolean;
  /** Whether transfers don't determine its balances, or the contract has none. */
  readonly isLive: boolean;
  /** Whether the read is older than a day. */
  readonly isOld: boolean;
  /** Block that created the token; null: unknown. */
  readonly createdBlock: number | null;
}

/** Returns the stored reads of holdings, in any order. Those without a stored row are missing, unless their token has a class. */
export async function readStoredAnchors(
  database: ReadDatabase,
  { id, wrappedNative }: Chain,
  holdings: readonly Holding[],
): Promise<readonly StoredAnchor[]> {
  const accounts = sql`${holdings.map(({ account }) => addressBytes(account))}::bytea[]`;
  const tokens = sql`${holdings.map(({ token }) => addressBytes(token))}::bytea[]`;
  const rows = await database.select<AnchorRow>(
    sql`WITH requested AS MATERIALIZED (SELECT * FROM unnest(${accounts}, ${tokens}) AS given(account, token)),
held AS MATERIALIZED (SELECT wallet, token, anchor_block, anchor_value, anchored_at FROM erc20_wallet_tokens
  WHERE wallet = ANY (${accounts}) AND chain_id = ${id}::bigint AND token = ANY (${tokens})),
classes AS MATERIALIZED (SELECT token, class FROM erc20_token_classes WHERE token = ANY (${tokens}) AND chain_id = ${id}::bigint),
facts AS MATERIALIZED (SELECT address AS token, verified, created_block FROM tokens WHERE address = ANY (${tokens}) AND chain_id = ${id}::bigint)
SELECT ${hexText('requested.account')} AS account, ${hexText('requested.token')} AS token, coalesce(anchor_block, -1)::int AS block,
  CASE WHEN anchored_at IS NOT NULL THEN anchor_value::text END AS value, coalesce(anchored_at < now() - interval '24 hours', false) AS is_old,
  coalesce(class, 'new') AS class, coalesce(facts.verified, false) AS is_listed, facts.created_block
FROM requested LEFT JOIN held ON held.wallet = requested.account AND held.token = requested.token
  LEFT JOIN classes ON classes.token = requested.token LEFT JOIN facts ON facts.token = requested.token`,
  );
  return rows.map(
    ({
      account,
      token,
      block,
      value,
      class: found,
      is_listed: isListed,
      is_old: isOld,
      created_block: createdBlock,
    }) => ({
      ...{ account, token, block, isOld, createdBlock },
      value: value === null ? null : BigInt(value),
      // Without its deposits and withdrawals, its reads can't be compared. Those of other accounts don't matter here.
      addsUp: found === 'sum' || (found === 'new' && (isListed || token === wrappedNative)),
      isLive: found === 'live' || found === 'none',
    }),
  );
}

interface AnchorRow {
  readonly account: Address;
  readonly token: Address;
  readonly block: number;
  readonly value: string | null;
  readonly class: 'sum' | 'live' | 'none' | 'new';
  readonly is_listed: boolean;
  readonly is_old: boolean;
  readonly created_block: number | null;
}
