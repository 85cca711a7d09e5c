import { hash, randomBytes } from 'node:crypto';
import { defineError } from '@chainstead/core';
import { type Database, type Sql, sql, type Transaction } from '@chainstead/db';
import { LRUCache } from 'lru-cache';
import { type AuditActor, recordAudit, START_ACTOR } from '../audit/audit-log.ts';
import { type ConfiguredKey, KEY_PATTERN } from './configured-key.ts';
import { DEFAULT_SCOPES, KEY_SCOPES, type KeyScope, type KeyScopes } from './key-scope.ts';
import type { Principal } from './principal.ts';

/** A stored key in lists. */
export interface StoredKey {
  /** First characters of the key. */
  readonly prefix: string;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  /** API requests per second; null: the `RATE_LIMIT` setting. */
  readonly rateLimit: number | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

export interface KeyStore {
  /** Returns the key's principal; null if it is malformed, unknown or revoked. Cached for a few seconds. */
  verify(key: string): Principal | null | Promise<Principal | null>;
  /** Whether any key was ever configured or created: a server whose keys were all revoked stays closed. */
  inUse(): boolean | Promise<boolean>;
  /**
   * Creates a key of 32 lower-case hex digits, by default with {@link DEFAULT_SCOPES}. Only this result contains it.
   */
  create(name: string, scopes?: KeyScopes, by?: AuditActor): Promise<CreatedKey>;
  list(): Promise<readonly StoredKey[]>;
  /** Revokes a key, given its prefix or the key itself. @throws KeyNotFoundError, AmbiguousKeyError */
  revoke(prefixOrKey: string, by?: AuditActor): Promise<StoredKey>;
  /**
   * Sets the scopes of an active key, given its prefix or the key itself.
   * @throws KeyNotFoundError, AmbiguousKeyError
   */
  setScopes(prefixOrKey: string, scopes: KeyScopes, by?: AuditActor): Promise<StoredKey>;
  /**
   * Sets an active key's requests per second; null: the `RATE_LIMIT` setting.
   * @throws KeyNotFoundError, AmbiguousKeyError
   */
  setRateLimit(prefixOrKey: string, rateLimit: number | null, by?: AuditActor): Promise<StoredKey>;
}

/** A newly created key. */
export interface CreatedKey {
  /** Shown only once. */
  readonly key: string;
  readonly prefix: string;
}

export interface KeyStoreOptions {
  readonly database: Database;
  /** `API_KEYS`. */
  readonly configured: readonly ConfiguredKey[];
  /** Cache time of database results, and so the maximum time that a revoked key still works. Default 3,000 ms. */
  readonly cacheMs?: number;
}

/** Prefix of the ids of configured keys. */
export const CONFIGURED_KEY_ID = 'config:';
const STORED_KEY_PATTERN = /^[0-9a-f]{32}$/;
const PREFIX_LENGTH = 8;
const CACHE_MS = 3_000;
/** Limits the memory that a flood of wrong keys can use. Entries. */
const CACHE_ENTRIES_MAX = 10_000;

/** An invalid key in `API_KEYS`. The key itself is not repeated. */
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

interface KeyRow {
  readonly prefix: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly rate_limit: number | null;
  readonly created_at: Date;
  readonly revoked_at: Date | null;
}

/**
 * Creates a store of keys from the configuration and from table `api_keys`, which contains only their SHA-256. Keys are
 * compared by digest, so the comparison time reveals nothing about a key.
 * @throws InvalidConfiguredKeyError
 */
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
  const inUse = createInUse(database, { hasConfigured: configured.size > 0, cacheMs });
  return {
    verify: (key) => {
      if (!KEY_PATTERN.test(key)) return null;
      const digest = hash('sha256', key, 'hex');
      const fromConfiguration = configured.get(digest);
      if (fromConfiguration !== undefined) return fromConfiguration;
      if (!STORED_KEY_PATTERN.test(key)) return null;
      const known = cache.get(digest);
      if (known !== undefined) return known.principal;
      return cache.fetch(digest).then((found) => found?.principal ?? null);
    },
    inUse,
    create: (name, scopes = new Set(DEFAULT_SCOPES), by = START_ACTOR) =>
      database.transaction((transaction) => insertKey(transaction, { name, scopes, byStart: false }, by)),
    list: async () => {
      const rows = await database.query<KeyRow>(sql`SELECT ${COLUMNS} FROM api_keys ORDER BY created_at, prefix`);
      return rows.map(toStoredKey);
    },
    revoke: (prefixOrKey, by = START_ACTOR) =>
      changeKey(database, prefixOrKey, { set: sql`revoked_at = now()`, action: 'key.revoke', details: {} }, by),
    setScopes: (prefixOrKey, scopes, by = START_ACTOR) => {
      const change = [...scopes];
      const set = sql`scopes = ${change}`;
      return changeKey(database, prefixOrKey, { set, action: 'key.scopes', details: { scopes: change } }, by);
    },
    setRateLimit: (prefixOrKey, rateLimit, by = START_ACTOR) => {
      const set = sql`rate_limit = ${rateLimit}`;
      return changeKey(database, prefixOrKey, { set, action: 'key.rate', details: { rate_limit: rateLimit } }, by);
    },
  };
}

const COLUMNS = sql`prefix, name, scopes, rate_limit, created_at, revoked_at`;

function digestConfigured(keys: readonly ConfiguredKey[]): ReadonlyMap<string, Principal> {
  return new Map(
    keys.map(({ key, scopes }, index) => {
      if (!KEY_PATTERN.test(key)) throw new InvalidConfiguredKeyError(index + 1);
      return [
        hash('sha256', key, 'hex'),
        { id: `${CONFIGURED_KEY_ID}${index + 1}`, name: `API_KEYS ${index + 1}`, scopes },
      ];
    }),
  );
}

async function findStored(database: Database, digest: string): Promise<Principal | null> {
  const [row] = await database.query<Pick<KeyRow, 'prefix' | 'name' | 'scopes' | 'rate_limit'>>(
    sql`SELECT prefix, name, scopes, rate_limit FROM api_keys WHERE key_hash = ${Buffer.from(digest, 'hex')} AND revoked_at IS NULL`,
  );
  if (row === undefined) return null;
  return { id: row.prefix, name: row.name, scopes: scopesOf(row), rateLimit: row.rate_limit };
}

/** Skips scopes of a newer version: this version has no route for them. */
function scopesOf({ scopes }: Pick<KeyRow, 'scopes'>): KeyScopes {
  return new Set(KEY_SCOPES.filter((scope) => scopes.includes(scope)));
}

/** Stays true once true: rows of api_keys are never deleted. */
function createInUse(
  database: Database,
  { hasConfigured, cacheMs }: { readonly hasConfigured: boolean; readonly cacheMs: number },
): KeyStore['inUse'] {
  let used = hasConfigured;
  let checkedAt: number | undefined;
  let pending: Promise<boolean> | undefined;
  const check = async (): Promise<boolean> => {
    try {
      used = (await database.query(sql`SELECT 1 FROM api_keys WHERE NOT by_start LIMIT 1`)).length > 0;
    } catch (error) {
      // Probes must work while the database is unavailable, so the last known value applies; without one, nothing is
      // allowed.
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

/** A key before its digits are generated. */
export interface NewKey {
  readonly name: string;
  readonly scopes: KeyScopes;
  /** Whether the first start creates it. */
  readonly byStart: boolean;
}

/** Inserts a key in a transaction, with its audit log entry. */
export async function insertKey(
  transaction: Transaction,
  { name, scopes, byStart }: NewKey,
  by: AuditActor,
): Promise<CreatedKey> {
  const key = randomBytes(16).toString('hex');
  const prefix = key.slice(0, PREFIX_LENGTH);
  await transaction.query(
    sql`INSERT INTO api_keys (key_hash, prefix, name, scopes, by_start) VALUES (${hash('sha256', key, 'buffer')}, ${prefix}, ${name}, ${[...scopes]}, ${byStart})`,
  );
  await recordAudit(transaction, by, { action: 'key.create', target: prefix, details: { name, scopes: [...scopes] } });
  return { key, prefix };
}

interface KeyChange {
  readonly set: Sql;
  /** For the audit log. */
  readonly action: string;
  readonly details: Readonly<Record<string, unknown>>;
}

async function changeKey(
  database: Database,
  prefixOrKey: string,
  change: KeyChange,
  by: AuditActor,
): Promise<StoredKey> {
  const isKey = STORED_KEY_PATTERN.test(prefixOrKey);
  const prefix = prefixOrKey.slice(0, PREFIX_LENGTH);
  return database.transaction(async (transaction) => {
    const rows = await transaction.query<KeyRow>(
      sql`UPDATE api_keys SET ${change.set}
       WHERE revoked_at IS NULL AND ${isKey ? sql`key_hash = ${hash('sha256', prefixOrKey, 'buffer')}` : sql`prefix = ${prefixOrKey}`}
       RETURNING ${COLUMNS}`,
    );
    const [row] = rows;
    if (row === undefined) throw new KeyNotFoundError(prefix);
    // Thrown inside the transaction, so nothing changes.
    if (rows.length > 1) throw new AmbiguousKeyError(prefix, rows.length);
    const { action, details } = change;
    await recordAudit(transaction, by, { action, target: row.prefix, details: { name: row.name, ...details } });
    return toStoredKey(row);
  });
}

function toStoredKey(row: KeyRow): StoredKey {
  return {
    prefix: row.prefix,
    name: row.name,
    scopes: [...scopesOf(row)],
    rateLimit: row.rate_limit,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  };
}
