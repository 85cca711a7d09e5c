import { type Database, sql, transactionLock } from '@chainstead/db';
import { START_ACTOR } from '../audit/audit-log.ts';
import type { ConfiguredKey } from './key-scope.ts';
import { insertKey } from './key-store.ts';

const LOCK = 'first admin key';

/**
 * Creates the first key for the console. The key is saved by `keep` before its row commits, and not created if `keep`
 * fails. Returns null if a key with the scope `admin` is configured or ever existed. A loopback-only server stays open:
 * this key only opens the console.
 */
export async function createFirstAdminKey(
  database: Database,
  configured: readonly ConfiguredKey[],
  keep: (key: string) => Promise<void>,
): Promise<string | null> {
  if (configured.some(({ scopes }) => scopes.has('admin'))) return null;
  return database.transaction(async (transaction) => {
    // If several programs start concurrently, only one creates the key.
    await transactionLock(transaction, LOCK);
    // A used database may also serve an older version, for which any key would close the server.
    const known = await transaction.query(
      sql`SELECT FROM api_keys WHERE 'admin' = ANY (scopes) OR by_start UNION ALL SELECT FROM sync_chains LIMIT 1`,
    );
    if (known.length > 0) return null;
    const made = { name: 'console, from the first start', scopes: new Set(['admin'] as const), byStart: true };
    const { key } = await insertKey(transaction, made, START_ACTOR);
    await keep(key);
    return key;
  });
}
