import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, hexText, joinSql, type ReadDatabase, type Sql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { formsOf } from '@chainstead/markets';
import type { PricedToken } from './price-response.ts';

export type KnownToken = { readonly facts: PricedToken | null; readonly isDecided: boolean };

export async function readPricedTokens(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly Address[],
): Promise<(token: Address) => KnownToken> {
  if (tokens.length === 0) return () => ({ facts: null, isDecided: false });
  const chainId = sql`${chain.id}::bigint`;
  const forms = [...new Set(tokens.flatMap((token) => formsOf(token, chain)))];
  const keys = sql`${forms.map(addressKey)}::bigint[]`;
  const ofTokens = SIDES.map((side) => sql`SELECT ${side} AS key ${unproven(chainId)} AND ${side} = ANY (${keys})`);
  const ofUnknown = SIDES.map((side) => sql`(SELECT NULL ${unproven(chainId)} AND ${side} IS NULL LIMIT 1)`);
  const [row] = await database.select<{
    /** Keys of tokens with a pool that waits for its proof. Null: its tokens are unknown. */
    readonly undecided: readonly (string | null)[];
    readonly facts: readonly (PricedToken & { readonly address: Address })[];
  }>(
    sql`WITH undecided AS MATERIALIZED (${joinSql([...ofTokens, ...ofUnknown], ' UNION ')}),
       known AS MATERIALIZED (SELECT ${hexText('address')} AS address, name, symbol, logo, decimals, possible_spam, verified FROM tokens
         WHERE chain_id = ${chainId} AND address = ANY (${tokens.map(addressBytes)}::bytea[]))
     SELECT (SELECT coalesce(json_agg(key::text), '[]') FROM undecided) AS undecided, (SELECT coalesce(json_agg(known), '[]') FROM known) AS facts`,
  );
  const undecided = new Set(row?.undecided);
  const known = new Map(row?.facts.map(({ address, ...facts }) => [address, facts]));
  return (token) => ({
    facts: known.get(token) ?? null,
    isDecided:
      row !== undefined &&
      !undecided.has(null) &&
      formsOf(token, chain).every((form) => !undecided.has(addressKey(form))),
  });
}

const SIDES = [sql`address_key(token0)`, sql`address_key(token1)`];

function unproven(chainId: Sql): Sql {
  return sql`FROM pools WHERE chain_id = ${chainId} AND status = 'unproven'`;
}
