import type { Address, ChainId } from '@chainstead/core';
import { addressBytes, type Database, fromNow, hexText } from '@chainstead/db';
import { refreshTokens } from './refresh-tokens.ts';
import type { TokenMetadata } from './token-metadata.ts';

/** Attempts after which a contract that answers nothing is believed to have nothing to say. A node may lag behind the first. */
export const SILENT_ATTEMPTS_MAX = 3;
/** Attempts after which unreadable metadata waits for {@link FAILED_RETRY_SECONDS} each time. */
export const FAILING_ATTEMPTS_MAX = 10;

/** Longer than any job takes; what a crash leaves behind is due again after it. Seconds. */
const LEASE_SECONDS = 120;
const RETRY_SECONDS_BASE = 10;
const RETRY_SECONDS_MAX = 3_600;
const FAILED_RETRY_SECONDS = 86_400;

/**
 * Takes tokens whose metadata is due and hides them from other takers for two minutes. A job that is lost needs no clean-up:
 * its tokens are simply due again.
 */
export async function leasePendingTokens(database: Database, chainId: ChainId, limit: number): Promise<Address[]> {
  const rows = await database.query<{ address: Address }>(
    // Chosen by itself, once: of a table that each node of a cluster has, each would choose its own.
    `WITH due AS MATERIALIZED (
       SELECT address, chain_id FROM tokens
       WHERE facts_status IN ('pending', 'failed') AND chain_id = $1 AND coalesce(facts_retry_at, '-infinity') <= now()
       ORDER BY facts_status DESC, facts_retry_at NULLS FIRST LIMIT $2 FOR UPDATE SKIP LOCKED
     )
     UPDATE tokens SET facts_retry_at = now() + make_interval(secs => $3) FROM due
     WHERE (tokens.address, tokens.chain_id) = (due.address, due.chain_id) RETURNING ${hexText('tokens.address')} AS address`,
    [chainId, limit, LEASE_SECONDS],
  );
  return rows.map((row) => row.address);
}

/** Stores metadata. A contract that answered nothing is asked again a few times before nulls are taken for its metadata. */
export async function saveTokenMetadata(
  database: Database,
  chainId: ChainId,
  metadata: ReadonlyMap<Address, TokenMetadata>,
): Promise<void> {
  const entries = [...metadata].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const column = <T>(read: (one: TokenMetadata) => T): T[] => entries.map(([, one]) => read(one));
  const addresses = entries.map(([address]) => addressBytes(address));
  await database.transaction(async (transaction) => {
    await transaction.query(
      `SELECT FROM tokens WHERE chain_id = $1 AND address = ANY ($2::bytea[]) ORDER BY address, chain_id FOR UPDATE`,
      [chainId, addresses],
    );
    await transaction.query(
      `UPDATE tokens SET
         name = told.name, symbol = told.symbol, decimals = told.decimals, standard = told.standard, facts_attempts = facts_attempts + 1,
         facts_status = CASE WHEN told.answered OR facts_attempts + 1 >= $8 THEN 'known' ELSE 'pending' END,
         facts_retry_at = ${fromNow(`CASE WHEN told.answered OR facts_attempts + 1 >= $8 THEN NULL ELSE ${backoff('$9', '$10')} END`)}
       FROM unnest($2::bytea[], $3::text[], $4::text[], $5::smallint[], $6::text[], $7::boolean[])
         AS told(address, name, symbol, decimals, standard, answered)
       WHERE tokens.address = told.address AND tokens.chain_id = $1`,
      [
        chainId,
        addresses,
        column((one) => one.name),
        column((one) => one.symbol),
        column((one) => one.decimals),
        column((one) => one.standard),
        column((one) => one.answered),
        SILENT_ATTEMPTS_MAX,
        RETRY_SECONDS_BASE,
        RETRY_SECONDS_MAX,
      ],
    );
    await refreshTokens(transaction, 'SELECT address, $2::bigint FROM unnest($1::bytea[]) AS touched(address)', [
      addresses,
      chainId,
    ]);
  });
}

/** Metadata that no upstream could give: tried again later, each time after a longer wait. */
export async function postponeTokenMetadata(
  database: Database,
  chainId: ChainId,
  addresses: readonly Address[],
): Promise<void> {
  await database.query(
    `UPDATE tokens SET facts_attempts = facts_attempts + 1,
       facts_status = CASE WHEN facts_attempts + 1 >= $3 THEN 'failed' ELSE 'pending' END,
       facts_retry_at = ${fromNow(`CASE WHEN facts_attempts + 1 >= $3 THEN $4::float8 ELSE ${backoff('$5', '$6')} END`)}
     WHERE (address, chain_id) IN (
       SELECT address, chain_id FROM tokens WHERE chain_id = $1 AND address = ANY ($2::bytea[]) ORDER BY address, chain_id FOR UPDATE)`,
    [
      chainId,
      addresses.map(addressBytes),
      FAILING_ATTEMPTS_MAX,
      FAILED_RETRY_SECONDS,
      RETRY_SECONDS_BASE,
      RETRY_SECONDS_MAX,
    ],
  );
}

/** Metadata that ended the process each time it was asked for: not tried again. */
export async function setTokenAside(database: Database, chainId: ChainId, address: Address): Promise<void> {
  await database.query(
    `UPDATE tokens SET facts_status = 'failed', facts_retry_at = 'infinity' WHERE address = $1 AND chain_id = $2`,
    [addressBytes(address), chainId],
  );
}

/** 10 s, 20 s, 40 s, … up to an hour. */
function backoff(base: string, max: string): string {
  return `least(${base}::float8 * power(2, least(facts_attempts, 20)), ${max}::float8)`;
}
