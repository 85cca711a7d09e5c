import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, joinSql, type ReadDatabase, type Sql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { formsOf, shownToken } from '@chainstead/markets/requests';
import {
  type PackedTokens,
  readTokens,
  type TokenFacts,
  tokenBook,
  tokensOf,
  UNKNOWN_TOKEN,
} from '@chainstead/tokens/token-book';

export async function readPricedTokens(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly Address[],
): Promise<(token: Address) => { readonly facts: TokenFacts; readonly isDecided: boolean }> {
  const chainId = sql`${chain.id}::bigint`;
  const forms = [...new Set(tokens.flatMap((token) => formsOf(token, chain)))];
  const keys = sql`${forms.map(addressKey)}::bigint[]`;
  const ofTokens = SIDES.map(
    (side) => sql`SELECT ${side} AS key ${unproven(chainId)} AND ${side} = ANY (${keys})`,
  );
  const ofUnknown = SIDES.map((side) => sql`(SELECT NULL ${unproven(chainId)} AND ${side} IS NULL LIMIT 1)`);
  const statement = sql`WITH undecided AS MATERIALIZED (${joinSql([...ofTokens, ...ofUnknown], ' UNION ')})
     SELECT (SELECT coalesce(json_agg(key::text), '[]') FROM undecided) AS undecided,
       ${tokensOf(sql`SELECT unnest(${tokens.map(addressBytes)}::bytea[])`, chainId)} AS facts`;
  const [row] = tokens.length === 0 ? [] : await database.select<PricedRow>(statement);
  const undecided = new Set(row?.undecided);
  const { name, symbol, decimals } = chain.native;
  // The wrapped token too has the native token's names until its own are read.
  const natives = formsOf(shownToken(ZERO_ADDRESS, chain), chain).map(
    (address): TokenFacts => ({ ...UNKNOWN_TOKEN, address, name, symbol, decimals }),
  );
  const tokenOf = tokenBook([...natives, ...readTokens(row?.facts ?? null)]);
  return (token) => ({
    facts: tokenOf(token),
    isDecided:
      row !== undefined &&
      !undecided.has(null) &&
      formsOf(token, chain).every((form) => !undecided.has(addressKey(form))),
  });
}

interface PricedRow {
  /** Keys of tokens with a pool that waits for its proof. Null: its tokens are unknown. */
  readonly undecided: readonly (string | null)[];
  readonly facts: PackedTokens;
}

const SIDES = [sql`address_key(token0)`, sql`address_key(token1)`];

function unproven(chainId: Sql): Sql {
  return sql`FROM pools WHERE chain_id = ${chainId} AND status = 'unproven'`;
}
