import { asSql, type Sql, sql, type Transaction } from '@chainstead/db';
import { noteChangedDecimals, type TokenDecimals } from './changed-decimals.ts';
import { SPAM_PATTERNS } from './spam-rule.ts';

/**
 * Token lists set `logo` and `verified`, and other facts while the chain's are unknown.
 * `possible_spam`: docs/api/spam.md. Idempotent. Locks rows in key order: never deadlocks with
 * itself. Citus refuses SET expressions that are not immutable (`concat`).
 * @param touched SQL of rows (address, chain_id)
 */
export async function refreshTokens(transaction: Transaction, touched: Sql): Promise<void> {
  await transaction.query(
    sql`SELECT FROM tokens WHERE (address, chain_id) IN (${touched}) ORDER BY address, chain_id FOR UPDATE`,
  );
  const refreshed = await transaction.query<TokenDecimals & { former: number | null }>(
    sql`UPDATE tokens SET logo = shown.logo, verified = shown.verified, name = shown.name, symbol = shown.symbol, decimals = shown.decimals,
       possible_spam = shown.is_listed_spam OR NOT shown.verified
         AND (coalesce(shown.name, '') || ' ' || coalesce(shown.symbol, '')) ~* ANY (${SPAM_PATTERNS}::text[])
     FROM (
       SELECT token.address, token.chain_id, token.decimals AS former, list.logo, list.entries > 0 AS verified,
         CASE WHEN token.facts_status = 'known' THEN token.name ELSE list.name END AS name,
         CASE WHEN token.facts_status = 'known' THEN token.symbol ELSE list.symbol END AS symbol,
         CASE WHEN token.facts_status = 'known' THEN token.decimals ELSE list.decimals END AS decimals,
         EXISTS (SELECT FROM spam_list_entries AS spam WHERE spam.address = token.address AND spam.chain_id IN (token.chain_id, 0)) AS is_listed_spam
       FROM tokens AS token
       CROSS JOIN LATERAL (
         SELECT count(*) AS entries, ${firstSource('logo')}, ${firstSource('name')}, ${firstSource('symbol')}, ${firstSource('decimals')}
         FROM token_list_entries AS entry WHERE entry.address = token.address AND entry.chain_id = token.chain_id
       ) AS list
       WHERE (token.address, token.chain_id) IN (${touched})
     ) AS shown
     WHERE tokens.address = shown.address AND tokens.chain_id = shown.chain_id
     RETURNING tokens.address, tokens.chain_id, tokens.decimals, shown.former`,
  );
  await noteChangedDecimals(
    transaction,
    refreshed.map(({ former, ...token }) => ({ ...token, decimals: former })),
    refreshed,
  );
}

function firstSource(name: string): Sql {
  const column = asSql(name);
  return sql`(array_agg(${column} ORDER BY source) FILTER (WHERE ${column} IS NOT NULL))[1] AS ${column}`;
}
