import type { Address, ChainId } from '@chainstead/core';
import {
  addressBytes,
  asSql,
  type Database,
  fromNow,
  joinSql,
  type Sql,
  sql,
  type Transaction,
} from '@chainstead/db';
import { backoffSeconds, type DueTable, dueChannel } from '@chainstead/jobs';
import type { TokenMetadata } from './token-metadata.ts';

/** A node may lag behind: silence counts as "no metadata" after these attempts. */
export const SILENT_ATTEMPTS_MAX = 3;
/** After these attempts, each retry waits for {@link FAILED_RETRY_SECONDS}. */
export const FAILING_ATTEMPTS_MAX = 10;

const RETRY_SECONDS = { base: 10, max: 3_600 } as const;
const FAILED_RETRY_SECONDS = 86_400;

/** Known facts are read again after all unknown ones. */
export const TOKEN_FACTS: DueTable = {
  name: 'tokens',
  key: ['address', 'chain_id'],
  prefix: 'facts_',
  isUrgent: sql`facts_status <> 'known'`,
  onFailure: sql`facts_status = CASE WHEN facts_status = 'known' THEN 'known' WHEN facts_attempts >= ${FAILING_ATTEMPTS_MAX} THEN 'failed' ELSE 'pending' END`,
};

export function tokenRetrySeconds(attempts: number): number {
  return attempts >= FAILING_ATTEMPTS_MAX ? FAILED_RETRY_SECONDS : backoffSeconds(attempts, RETRY_SECONDS);
}

/** A silent contract is read a few times before its metadata is null. Known values stay. */
export async function saveTokenMetadata(
  database: Database,
  chainId: ChainId,
  metadata: ReadonlyMap<Address, TokenMetadata>,
): Promise<void> {
  const entries = [...metadata].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const column = <Name extends keyof TokenMetadata>(name: Name): TokenMetadata[Name][] =>
    entries.map(([, facts]) => facts[name]);
  const addresses = entries.map(([address]) => addressBytes(address));
  await database.transaction(async (transaction) => {
    const former = await transaction.query<TokenDecimals>(
      sql`SELECT address, chain_id, decimals FROM tokens WHERE chain_id = ${chainId} AND address = ANY (${addresses}::bytea[]) ORDER BY address, chain_id FOR UPDATE`,
    );
    const isSettled = sql`(reported.answered OR tokens.facts_attempts >= ${SILENT_ATTEMPTS_MAX} OR tokens.facts_status = 'known')`;
    const retrySeconds = sql`least(${RETRY_SECONDS.base}::float8 * power(2, tokens.facts_attempts - 1), ${RETRY_SECONDS.max})`;
    const stored = await transaction.query<TokenDecimals>(
      sql`UPDATE tokens SET ${joinSql(['name', 'symbol', 'decimals', 'standard'].map(reportedOrKnown))},
         facts_lease_until = NULL, facts_holder = NULL, facts_error_code = NULL, facts_error_message = NULL, facts_read_at = now(),
         facts_attempts = CASE WHEN ${isSettled} THEN 0 ELSE tokens.facts_attempts END,
         facts_status = CASE WHEN ${isSettled} THEN 'known' ELSE 'pending' END,
         facts_due_at = CASE WHEN NOT ${isSettled} THEN ${fromNow(retrySeconds)}
           WHEN tokens.facts_lease_until IS NOT NULL THEN tokens.facts_due_at END
       FROM unnest(${addresses}::bytea[], ${column('name')}::text[], ${column('symbol')}::text[], ${column('decimals')}::smallint[],
           ${column('standard')}::text[], ${column('answered')}::boolean[])
         AS reported(address, name, symbol, decimals, standard, answered)
       WHERE tokens.address = reported.address AND tokens.chain_id = ${chainId} RETURNING tokens.address, tokens.chain_id, tokens.decimals`,
    );
    await noteChangedDecimals(transaction, former, stored);
    await refreshTokens(
      transaction,
      sql`SELECT address, ${chainId}::bigint FROM unnest(${addresses}::bytea[]) AS touched(address)`,
    );
  });
}

function reportedOrKnown(name: string): Sql {
  const column = asSql(name);
  return sql`${column} = CASE WHEN tokens.facts_status = 'known' THEN coalesce(reported.${column}, tokens.${column}) ELSE reported.${column} END`;
}

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

/** docs/api/spam.md. A domain or a bait word alone is no spam: it takes two signs, or a link. */

const DOMAIN = '[a-z0-9][.][a-z]{2,12}([^a-z]|$)';
const BAIT = '(claim|visit|redeem|reward|air ?drop|voucher|give ?away|gift|bonus|free )';

/** Case-insensitive, over `name symbol`. JavaScript and Postgres (`~*`) read them alike. */
export const SPAM_PATTERNS: readonly string[] = [
  // Link.
  '(^|[^a-z0-9])(https?:|www[.]|t[.]me/)',
  '[a-z0-9][.][a-z]{2,12}/[a-z0-9]',
  `^(?=.*${BAIT})(?=.*${DOMAIN})`,
  // "$5,000 Reward".
  `^(?=.*${BAIT})(?=.*[$€£] ?[0-9])`,
  // "$UNI airdrop".
  '[$].*air ?drop|air ?drop.*[$]',
  // "Claim your tokens now".
  '(^|[^a-z])(claim|visit|redeem) (.* )?(reward|air ?drop|tokens?|bonus|voucher|now|your|here|free|at|on|to)',
  // Cyrillic letters in a Latin word imitate another token.
  '[a-z][\u0400-\u04ff]|[\u0400-\u04ff][a-z]',
];

/** Work for packages that store figures computed from decimals. */
export const CHANGED_DECIMALS_WORK = 'changed-decimals';

/** A row is deleted once all stored figures follow from the new decimals, or are due again. */
export const CHANGED_DECIMALS: DueTable = { name: 'changed_decimals', key: ['address', 'chain_id'] };

interface TokenDecimals {
  readonly address: Buffer;
  readonly chainId: number;
  readonly decimals: number | null;
}

/** Both lists have the same tokens, in any order. */
async function noteChangedDecimals(
  transaction: Transaction,
  former: readonly TokenDecimals[],
  stored: readonly TokenDecimals[],
): Promise<void> {
  const formerOf = new Map(former.map((token) => [keyOf(token), token.decimals]));
  const changed = stored.filter((token) => formerOf.get(keyOf(token)) !== token.decimals);
  if (changed.length === 0) return;
  await transaction.query(
    sql`INSERT INTO changed_decimals (address, chain_id) SELECT * FROM unnest(${changed.map(({ address }) => address)}::bytea[], ${changed.map(({ chainId }) => chainId)}::bigint[]) AS changed (address, chain_id) ORDER BY 1, 2
     ON CONFLICT (address, chain_id) DO UPDATE SET due_at = now()`,
  );
  for (const chainId of new Set(changed.map(({ chainId: id }) => id)))
    transaction.notify(dueChannel(CHANGED_DECIMALS_WORK, chainId));
}

function keyOf({ address, chainId }: TokenDecimals): string {
  return `${chainId} ${address.toString('hex')}`;
}
