import { type Database, transactionLock } from '@chainstead/db';
import { START_ACTOR } from './audit/audit-log.ts';
import type { ConfiguredKey } from './configured-key.ts';
import { insertKey } from './key-store.ts';

const LOCK = 'first admin key';

/**
 * Makes the first key that opens the console, where there never was one. It is made only if `keep` succeeds, which gets it before it counts. Null where a key with the scope `admin` is configured, or
 * was ever made. A server that is open to this machine alone stays open: this key counts for the console only.
 */
export async function createFirstAdminKey(
  database: Database,
  configured: readonly ConfiguredKey[],
  keep: (key: string) => Promise<void>,
): Promise<string | null> {
  if (configured.some(({ scopes }) => scopes.has('admin'))) return null;
  return database.transaction(async (transaction) => {
    // Of several programs that start at once, one makes it.
    await transactionLock(transaction, LOCK);
    // A database that was used before may serve an older version, too, which would take the key for one that closes it.
    const known = await transaction.query(
      `SELECT FROM api_keys WHERE 'admin' = ANY (scopes) OR by_start UNION ALL SELECT FROM sync_chains LIMIT 1`,
    );
    if (known.length > 0) return null;
    const made = { name: 'console, from the first start', scopes: new Set(['admin'] as const), byStart: true };
    const { key } = await insertKey(transaction, made, START_ACTOR);
    await keep(key);
    return key;
  });
}
