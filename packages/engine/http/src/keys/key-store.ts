import { hash, randomBytes } from 'node:crypto';
import { defineError } from '@chainstead/core';
import { type Database, type Sql, sql, type Transaction, transactionLock } from '@chainstead/db';
import { LRUCache } from 'lru-cache';
import { type AuditActor, type AuditEntry, recordAudit, START_ACTOR } from '../audit/audit-log.ts';

export interface StoredKey {
  readonly prefix: string;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  /** Requests per second; null: the `RATE_LIMIT` setting. */
  readonly rateLimit: number | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

export interface KeyStore {
  /** Null if malformed, unknown or revoked. Cached for a few seconds. */
  verify(key: string): Principal | null | Promise<Principal | null>;
  /** True once any key existed: a server whose keys were all revoked stays closed. */
  inUse(): boolean | Promise<boolean>;
  /** 32 lower-case hex digits. Only this result contains it. @default scopes DEFAULT_SCOPES */
  create(name: string, scopes?: KeyScopes, by?: AuditActor): Promise<CreatedKey>;
  list(): Promise<readonly StoredKey[]>;
  /** @throws KeyNotFoundError, AmbiguousKeyError */
  revoke(prefixOrKey: string, by?: AuditActor): Promise<StoredKey>;
  /** @throws KeyNotFoundError, AmbiguousKeyError */
  setScopes(prefixOrKey: string, scopes: KeyScopes, by?: AuditActor): Promise<StoredKey>;
  /** Null: the `RATE_LIMIT` setting. @throws KeyNotFoundError, AmbiguousKeyError */
  setRateLimit(prefixOrKey: string, rateLimit: number | null, by?: AuditActor): Promise<StoredKey>;
}

export interface CreatedKey {
  readonly key: string;
  readonly prefix: string;
}

export interface KeyStoreOptions {
  readonly database: Database;
  readonly configured: readonly ConfiguredKey[];
  /** So long a revoked key may still work. @default 3000 */
  readonly cacheMs?: number;
}

export const CONFIGURED_KEY_ID = 'config:';
const STORED_KEY_PATTERN = /^[0-9a-f]{32}$/;
const PREFIX_LENGTH = 8;
const CACHE_MS = 3_000;
/** Limits the memory that a flood of wrong keys can use. */
const CACHE_ENTRIES_MAX = 10_000;

export class InvalidConfiguredKeyError extends defineError('API_KEY_FORMAT', (position: number) => ({
  message: `Key ${position} of API_KEYS is not 8 to 128 characters of A-Z, a-z, 0-9, ".", "_" and "-"`,
  facts: { position },
})) {}

export class KeyNotFoundError extends defineError('API_KEY_NOT_FOUND', (prefix: string) => ({
  message: `No active key begins with ${JSON.stringify(prefix)}`,
  facts: { prefix },
  remedy: 'Run `chainstead keys list` to see the prefixes of all keys',
})) {}

export class AmbiguousKeyError extends defineError('API_KEY_AMBIGUOUS', (prefix: string, matches: number) => ({
  message: `${matches} active keys begin with ${JSON.stringify(prefix)}`,
  facts: { prefix, matches },
  remedy: 'Pass the full key',
})) {}

/** Only SHA-256 is stored: comparison times reveal nothing. @throws InvalidConfiguredKeyError */
export function createKeyStore(options: KeyStoreOptions): KeyStore {
  const { database } = options;
  const cacheMs = options.cacheMs ?? CACHE_MS;
  const configured = digestConfigured(options.configured);
  // lru-cache does not store undefined, so null is wrapped.
  const cache = new LRUCache<string, { readonly principal: Principal | null }>({
    max: CACHE_ENTRIES_MAX,
    ttl: cacheMs,
    fetchMethod: async (digest) => ({ principal: await findStored(database, digest) }),
  });
  const inUse = createInUse(database, configured.size > 0, cacheMs);
  return {
    verify: (key) => {
      if (!KEY_PATTERN.test(key)) return null;
      const digest = hash('sha256', key, 'hex');
      const fromConfiguration = configured.get(digest);
      if (fromConfiguration !== undefined) return fromConfiguration;
      if (!STORED_KEY_PATTERN.test(key)) return null;
      const cached = cache.get(digest);
      if (cached !== undefined) return cached.principal;
      return cache.fetch(digest).then((fetched) => fetched?.principal ?? null);
    },
    inUse,
    create: (name, scopes = new Set(DEFAULT_SCOPES), by = START_ACTOR) =>
      database.transaction((transaction) => insertKey(transaction, { name, scopes, byStart: false }, by)),
    list: () => database.query<StoredKey>(sql`SELECT ${COLUMNS} FROM api_keys ORDER BY created_at, prefix`),
    revoke: (prefixOrKey, by = START_ACTOR) =>
      changeKey(database, prefixOrKey, { set: sql`revoked_at = now()`, action: 'key.revoke', details: {} }, by),
    setScopes: (prefixOrKey, scopes, by = START_ACTOR) => {
      const change = [...scopes];
      const set = sql`scopes = ${change}`;
      return changeKey(database, prefixOrKey, { set, action: 'key.scopes', details: { scopes: change } }, by);
    },
    setRateLimit: (prefixOrKey, rateLimit, by = START_ACTOR) => {
      const set = sql`rate_limit = ${rateLimit}`;
      return changeKey(
        database,
        prefixOrKey,
        { set, action: 'key.rate', details: { rate_limit: rateLimit } },
        by,
      );
    },
  };
}

/** `data`: data routes; `rpc`: the JSON-RPC gateway; `streams`; `admin`: server-wide settings. */
export const KEY_SCOPES = ['data', 'rpc', 'streams', 'admin'] as const;

const SCOPES = sql`array(SELECT scope FROM unnest(${[...KEY_SCOPES]}::text[]) WITH ORDINALITY AS known (scope, position)
  WHERE scope = ANY (scopes) ORDER BY position) AS scopes`;
const COLUMNS = sql`prefix, name, ${SCOPES}, rate_limit, created_at, revoked_at`;

function digestConfigured(keys: readonly ConfiguredKey[]): ReadonlyMap<string, Principal> {
  return new Map(
    keys.map(({ key, scopes }, index) => {
      if (!KEY_PATTERN.test(key)) throw new InvalidConfiguredKeyError(index + 1);
      const principal = { id: `${CONFIGURED_KEY_ID}${index + 1}`, name: `API_KEYS ${index + 1}`, scopes };
      return [hash('sha256', key, 'hex'), principal];
    }),
  );
}

async function findStored(database: Database, digest: string): Promise<Principal | null> {
  const [key] = await database.query<StoredKey>(
    sql`SELECT ${COLUMNS} FROM api_keys WHERE key_hash = ${Buffer.from(digest, 'hex')} AND revoked_at IS NULL`,
  );
  if (key === undefined) return null;
  return { id: key.prefix, name: key.name, scopes: new Set(key.scopes), rateLimit: key.rateLimit };
}

/** Stays true: rows of api_keys are never deleted. */
function createInUse(database: Database, hasConfigured: boolean, cacheMs: number): KeyStore['inUse'] {
  let used = hasConfigured;
  let checkedAt: number | undefined;
  let pending: Promise<boolean> | undefined;
  const check = async (): Promise<boolean> => {
    try {
      used = (await database.query(sql`SELECT 1 FROM api_keys WHERE NOT by_start LIMIT 1`)).length > 0;
    } catch (error) {
      // Probes must work during an outage. Without a last known value, nothing is allowed.
      if (checkedAt === undefined) throw error;
    } finally {
      pending = undefined;
    }
    checkedAt = performance.now();
    return used;
  };
  return () => {
    if (used || (checkedAt !== undefined && performance.now() - checkedAt < cacheMs)) return used;
    pending ??= check();
    return pending;
  };
}

interface NewKey {
  readonly name: string;
  readonly scopes: KeyScopes;
  readonly byStart: boolean;
}

async function insertKey(
  transaction: Transaction,
  { name, scopes, byStart }: NewKey,
  by: AuditActor,
): Promise<CreatedKey> {
  const key = randomBytes(16).toString('hex');
  const prefix = key.slice(0, PREFIX_LENGTH);
  // Invariant: HTTP-KEY-HASHES
  await transaction.query(
    sql`INSERT INTO api_keys (key_hash, prefix, name, scopes, by_start) VALUES (${hash('sha256', key, 'buffer')}, ${prefix}, ${name}, ${[...scopes]}, ${byStart})`,
  );
  await recordAudit(transaction, by, {
    action: 'key.create',
    target: prefix,
    details: { name, scopes: [...scopes] },
  });
  return { key, prefix };
}

async function changeKey(
  database: Database,
  prefixOrKey: string,
  change: Required<Pick<AuditEntry, 'action' | 'details'>> & { readonly set: Sql },
  by: AuditActor,
): Promise<StoredKey> {
  const isKey = STORED_KEY_PATTERN.test(prefixOrKey);
  const prefix = prefixOrKey.slice(0, PREFIX_LENGTH);
  return database.transaction(async (transaction) => {
    const changed = await transaction.query<StoredKey>(
      sql`UPDATE api_keys SET ${change.set}
       WHERE revoked_at IS NULL AND ${isKey ? sql`key_hash = ${hash('sha256', prefixOrKey, 'buffer')}` : sql`prefix = ${prefixOrKey}`}
       RETURNING ${COLUMNS}`,
    );
    const [key] = changed;
    if (key === undefined) throw new KeyNotFoundError(prefix);
    if (changed.length > 1) throw new AmbiguousKeyError(prefix, changed.length);
    const { action, details } = change;
    await recordAudit(transaction, by, { action, target: key.prefix, details: { name: key.name, ...details } });
    return key;
  });
}

const LOCK = 'first admin key';

/** `keep` saves the key before its row commits. Null if a key for `admin` exists or existed. */
export async function createFirstAdminKey(
  database: Database,
  configured: readonly ConfiguredKey[],
  keep: (key: string) => Promise<void>,
): Promise<string | null> {
  if (configured.some(({ scopes }) => scopes.has('admin'))) return null;
  return database.transaction(async (transaction) => {
    // Only one of several starting programs creates the key.
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
export type KeyScope = (typeof KEY_SCOPES)[number];
export type KeyScopes = ReadonlySet<KeyScope>;

export const ALL_SCOPES: KeyScopes = new Set(KEY_SCOPES);
export const DEFAULT_SCOPES = ['data', 'rpc', 'streams'] as const satisfies readonly KeyScope[];

/** Null if there are none or one is unknown. */
export function parseScopes(names: readonly string[]): KeyScopes | null {
  const scopes = KEY_SCOPES.filter((scope) => names.includes(scope));
  return scopes.length === 0 || names.some((name) => !scopes.some((scope) => scope === name))
    ? null
    : new Set(scopes);
}

export interface ConfiguredKey {
  readonly key: string;
  readonly scopes: KeyScopes;
}

export const KEY_PATTERN = /^[A-Za-z0-9._-]{8,128}$/;

/** `key`, which has all scopes, or `key:rpc+data`. Null if malformed. */
export function parseConfiguredKey(text: string): ConfiguredKey | null {
  const [key = '', names, ...rest] = text.split(':');
  const scopes = names === undefined ? ALL_SCOPES : parseScopes(names.split('+'));
  return KEY_PATTERN.test(key) && scopes !== null && rest.length === 0 ? { key, scopes } : null;
}

export interface Principal {
  /** Safe to log: the start of a stored key, or `config:<n>` for one of `API_KEYS`. */
  readonly id: string;
  readonly name: string;
  readonly scopes: KeyScopes;
  readonly rateLimit?: number | null;
}
