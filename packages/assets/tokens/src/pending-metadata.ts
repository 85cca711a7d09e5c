import type { Address, ChainId } from '@chainstead/core';
import { addressBytes, asSql, type Database, fromNow, joinSql, type Sql, sql } from '@chainstead/db';
import { backoffSeconds, type DueTable } from '@chainstead/jobs';
import { noteChangedDecimals, type TokenDecimals } from './changed-decimals.ts';
import { refreshTokens } from './refresh-tokens.ts';
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
