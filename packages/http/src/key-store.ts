import { hash, randomBytes } from 'node:crypto';
import { ChainsteadError } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { LRUCache } from 'lru-cache';

/** Whose key a request carried. */
export interface Principal {
  /** Stable and harmless to log: the first characters of a stored key, `config:<n>` for one of `API_KEYS`. */
  readonly id: string;
  readonly name: string;
}

/** A stored key as lists show it. */
export interface StoredKey {
  /** First characters of the key. */
  readonly prefix: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

export interface KeyStore {
  /** Whose key it is; null when it is malformed, unknown or revoked. Answers from memory for a few seconds. */
  verify(key: string): Principal | null | Promise<Principal | null>;
  /** Whether any key was ever configured or created: a server where all keys were revoked stays closed. */
  inUse(): boolean | Promise<boolean>;
  /** Makes a key of 32 lower-case hexadecimal digits. It is returned here and stored nowhere. */
  create(name: string): Promise<{ readonly key: string; readonly prefix: string }>;
  list(): Promise<readonly StoredKey[]>;
  /** Revokes by prefix or by the key itself. @throws KeyNotFoundError, AmbiguousKeyError */
  revoke(prefixOrKey: string): Promise<StoredKey>;
}

export interface KeyStoreOptions {
  readonly database: Database;
  /** `API_KEYS`. */
  readonly configured: readonly string[];
  /** How long an answer of the database is believed, hence how long a revoked key may live on. Default 3,000 ms. */
  readonly cacheMs?: number;
}

/** What `API_KEYS` may hold. */
export const KEY_PATTERN = /^[A-Za-z0-9._-]{8,128}$/;
const STORED_KEY_PATTERN = /^[0-9a-f]{32}$/;
const PREFIX_LENGTH = 8;
const CACHE_MS = 3_000;
/** Bounds the memory that a flood of wrong keys can take. Entries. */
const CACHE_ENTRIES_MAX = 10_000;

/** A key of `API_KEYS` that can't be accepted. The key itself is not repeated. */
export class InvalidConfiguredKeyError extends ChainsteadError {
  constructor(position: number) {
    super({
      code: 'API_KEY_FORMAT',
      message: `Key ${position} of API_KEYS is not 8 to 128 characters of A-Z, a-z, 0-9, ".", "_" and "-"`,
      facts: { position },
      retryable: false,
    });
  }
}

export class KeyNotFoundError extends ChainsteadError {
  constructor(prefix: string) {
    super({
      code: 'API_KEY_NOT_FOUND',
      message: `No active key begins with ${JSON.stringify(prefix)}`,
      facts: { prefix },
      remedy: 'List the keys to see their prefixes',
      retryable: false,
    });
  }
}

export class AmbiguousKeyError extends ChainsteadError {
  constructor(prefix: string, matches: number) {
    super({
      code: 'API_KEY_AMBIGUOUS',
      message: `${matches} active keys begin with ${JSON.stringify(prefix)}`,
      facts: { prefix, matches },
      remedy: 'Give the whole key',
      retryable: false,
    });
  }
}

interface KeyRow {
  readonly prefix: string;
  readonly name: string;
  readonly created_at: Date;
  readonly revoked_at: Date | null;
}

/**
 * Keys from the configuration and from table `api_keys`, where only their SHA-256 is kept.
 * Keys are compared by digest, so the time that a comparison takes tells nothing of a key.
 * @throws InvalidConfiguredKeyError
 */
export function createKeyStore(options: KeyStoreOptions): KeyStore {
  const { database } = options;
  const cacheMs = options.cacheMs ?? CACHE_MS;
  const configured = digestConfigured(options.configured);
  // lru-cache keeps no undefined, hence the wrapper around null.
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
      const known = cache.get(digest);
      if (known !== undefined) return known.principal;
      return cache.fetch(digest).then((found) => found?.principal ?? null);
    },
    inUse,
    create: (name) => createKey(database, name),
    list: async () => (await database.query<KeyRow>(LIST_SQL)).map(toStoredKey),
    revoke: (prefixOrKey) => revokeKey(database, prefixOrKey),
  };
}

const LIST_SQL = 'SELECT prefix, name, created_at, revoked_at FROM api_keys ORDER BY created_at, prefix';

function digestConfigured(keys: readonly string[]): ReadonlyMap<string, Principal> {
  return new Map(
    keys.map((key, index) => {
      if (!KEY_PATTERN.test(key)) throw new InvalidConfiguredKeyError(index + 1);
      return [hash('sha256', key, 'hex'), { id: `config:${index + 1}`, name: `API_KEYS ${index + 1}` }];
    }),
  );
}

async function findStored(database: Database, digest: string): Promise<Principal | null> {
  const [row] = await database.query<{ prefix: string; name: string }>(
    'SELECT prefix, name FROM api_keys WHERE key_hash = $1 AND revoked_at IS NULL',
    [Buffer.from(digest, 'hex')],
  );
  return row === undefined ? null : { id: row.prefix, name: row.name };
}

/** Once true it stays true: rows of api_keys are never deleted. */
function createInUse(database: Database, configured: boolean, cacheMs: number): KeyStore['inUse'] {
  let used = configured;
  let checkedAt: number | undefined;
  let pending: Promise<boolean> | undefined;
  const check = async (): Promise<boolean> => {
    try {
      used = (await database.query('SELECT 1 FROM api_keys LIMIT 1')).length > 0;
    } catch (error) {
      // Probes must answer while the database is away, so what was known last holds; without it nothing is let through.
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

async function createKey(database: Database, name: string): Promise<{ key: string; prefix: string }> {
  const key = randomBytes(16).toString('hex');
  const prefix = key.slice(0, PREFIX_LENGTH);
  await database.query('INSERT INTO api_keys (key_hash, prefix, name) VALUES ($1, $2, $3)', [
    hash('sha256', key, 'buffer'),
    prefix,
    name,
  ]);
  return { key, prefix };
}

async function revokeKey(database: Database, prefixOrKey: string): Promise<StoredKey> {
  const isKey = STORED_KEY_PATTERN.test(prefixOrKey);
  const prefix = prefixOrKey.slice(0, PREFIX_LENGTH);
  return database.transaction(async (transaction) => {
    const rows = await transaction.query<KeyRow>(
      `UPDATE api_keys SET revoked_at = now()
       WHERE revoked_at IS NULL AND ${isKey ? 'key_hash' : 'prefix'} = $1
       RETURNING prefix, name, created_at, revoked_at`,
      [isKey ? hash('sha256', prefixOrKey, 'buffer') : prefixOrKey],
    );
    const [row] = rows;
    if (row === undefined) throw new KeyNotFoundError(prefix);
    // Thrown inside the transaction, so nothing is revoked.
    if (rows.length > 1) throw new AmbiguousKeyError(prefix, rows.length);
    return toStoredKey(row);
  });
}

function toStoredKey(row: KeyRow): StoredKey {
  return { prefix: row.prefix, name: row.name, createdAt: row.created_at, revokedAt: row.revoked_at };
}
