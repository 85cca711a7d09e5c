import { hash } from 'node:crypto';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { assertSafeBinding } from '../access/request-gate.ts';
import { ALL_SCOPES, createKeyStore, DEFAULT_SCOPES, KEY_SCOPES, parseConfiguredKey } from './key-store.ts';
import { loadServerSecret } from './server-secret.ts';

const scratch = scratchOfFile();
beforeEach(() => scratch.database.query(sql`DELETE FROM api_keys`));

function withAllScopes(key: string) {
  return { key, scopes: ALL_SCOPES };
}

function open(configured: readonly string[] = [], cacheMs = 0) {
  return createKeyStore({ database: scratch.database, configured: configured.map(withAllScopes), cacheMs });
}

describe('configured keys', () => {
  test('are accepted without the database, others are not', async () => {
    const away = createKeyStore({
      database: { ...scratch.database, query: () => Promise.reject(new TypeError('asked the database')) },
      configured: [withAllScopes('my-key.1_A'), { key: 'second-key', scopes: new Set(['rpc' as const]) }],
    });
    expect(away.verify('my-key.1_A')).toEqual({ id: 'config:1', name: 'API_KEYS 1', scopes: ALL_SCOPES });
    expect(away.verify('second-key')).toEqual({ id: 'config:2', name: 'API_KEYS 2', scopes: new Set(['rpc']) });
    for (const wrong of ['my-key.1_a', 'my-key.1_A ', 'my-key.1_', '', 'second-key, second-key'])
      expect(away.verify(wrong)).toBeNull();
    expect(away.inUse()).toBe(true);
  });

  test.each(['short', 'x'.repeat(129), 'with space', 'with,comma', 'ümlaut-key', ''])(
    'refuse the key %j',
    (key) => {
      expect(() => open(['fine-key', key])).toThrow('Key 2 of API_KEYS is not 8 to 128 characters');
    },
  );

  test('never appear in the error', () => {
    expect(() => open(['sécret-key'])).toThrow(expect.not.stringContaining('cret'));
  });
});

describe('a key as API_KEYS has it', () => {
  test.each([
    ['some-key-1', KEY_SCOPES],
    ['some-key-1:rpc', ['rpc']],
    ['some-key-1:streams+data', ['data', 'streams']],
  ])('%s', (text, scopes) => {
    expect(parseConfiguredKey(text)).toEqual({ key: 'some-key-1', scopes: new Set(scopes) });
  });

  test.each(['short', 'some-key-1:', 'some-key-1:all', 'some-key-1:rpc+', 'some-key-1:rpc:data', ':rpc'])(
    '%s is malformed',
    (text) => {
      expect(parseConfiguredKey(text)).toBeNull();
    },
  );
});

describe('created keys', () => {
  // Invariant: HTTP-KEY-HASHES
  test('are 32 hexadecimal digits, accepted, and stored only as their SHA-256', async () => {
    const keys = open();
    const { key, prefix } = await keys.create('dashboard');
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    expect(prefix).toBe(key.slice(0, 8));
    expect(await keys.verify(key)).toEqual({
      id: prefix,
      name: 'dashboard',
      scopes: new Set(DEFAULT_SCOPES),
      rateLimit: null,
    });
    const [row] = await scratch.database.query<{ keyHash: Buffer; whole: string }>(
      sql`SELECT key_hash, api_keys::text AS whole FROM api_keys`,
    );
    expect(row?.keyHash).toEqual(hash('sha256', key, 'buffer'));
    expect(row?.whole).not.toContain(key);
  });

  test('are listed by prefix and name', async () => {
    const keys = open();
    const { prefix } = await keys.create('one');
    expect(await keys.list()).toEqual([
      {
        prefix,
        name: 'one',
        scopes: DEFAULT_SCOPES,
        rateLimit: null,
        createdAt: expect.any(Date),
        revokedAt: null,
      },
    ]);
  });

  test('may be used for all but the administration, or for the scopes that they are given at once or later', async () => {
    const keys = open();
    const { key, prefix } = await keys.create('page', new Set(['rpc', 'data']));
    expect([...((await keys.verify(key))?.scopes ?? [])]).toEqual(['data', 'rpc']);
    expect((await keys.setScopes(prefix, new Set(['rpc']))).scopes).toEqual(['rpc']);
    expect([...((await open().verify(key))?.scopes ?? [])]).toEqual(['rpc']);
    await expect(keys.setScopes('ffffffff', ALL_SCOPES)).rejects.toMatchObject({ code: 'API_KEY_NOT_FOUND' });
    // A key from before scopes existed.
    const old = 'a'.repeat(32);
    await scratch.database.query(
      sql`INSERT INTO api_keys (key_hash, prefix, name) VALUES (${hash('sha256', old, 'buffer')}, ${'aaaaaaaa'}, ${'old'})`,
    );
    expect((await keys.verify(old))?.scopes).toEqual(ALL_SCOPES);
  });

  test('are refused once revoked, by prefix or by the key itself, within the time of the cache', async () => {
    const keys = open([], 50);
    for (const by of ['prefix', 'key'] as const) {
      const created = await keys.create(by);
      expect(await keys.verify(created.key)).not.toBeNull();
      expect(await keys.revoke(created[by])).toMatchObject({
        prefix: created.prefix,
        revokedAt: expect.any(Date),
      });
      await vi.waitFor(async () => expect(await keys.verify(created.key)).toBeNull(), { interval: 10 });
    }
  });

  test('are looked up once while the cache holds, however many requests ask', async () => {
    const { key } = await open().create('busy');
    let lookups = 0;
    const keys = createKeyStore({
      database: {
        ...scratch.database,
        query: (statement) => {
          lookups++;
          return scratch.database.query(statement);
        },
      },
      configured: [],
      cacheMs: 60_000,
    });
    const principals = await Promise.all(Array.from({ length: 50 }, () => keys.verify(key)));
    expect(new Set(principals.map((principal) => principal?.name))).toEqual(new Set(['busy']));
    expect(keys.verify(key)).toMatchObject({ name: 'busy' });
    expect(lookups).toBe(1);
  });

  test('that are unknown are refused, and a failing database is an error instead of a refusal', async () => {
    expect(await open().verify('0'.repeat(32))).toBeNull();
    const away = createKeyStore({
      database: { ...scratch.database, query: () => Promise.reject(new TypeError('away')) },
      configured: [],
    });
    await expect(away.verify('0'.repeat(32))).rejects.toThrow('away');
  });

  test('are revoked once: an unknown or revoked prefix is an error', async () => {
    const keys = open();
    const { prefix } = await keys.create('x');
    await keys.revoke(prefix);
    await expect(keys.revoke(prefix)).rejects.toMatchObject({ code: 'API_KEY_NOT_FOUND' });
    await expect(keys.revoke('%')).rejects.toMatchObject({ code: 'API_KEY_NOT_FOUND' });
  });

  test('that share a prefix are not revoked together', async () => {
    const keys = open();
    for (const digest of ['aa', 'bb'])
      await scratch.database.query(
        sql`INSERT INTO api_keys (key_hash, prefix, name) VALUES (${Buffer.from(digest.repeat(32), 'hex')}, ${'12345678'}, ${digest})`,
      );
    await expect(keys.revoke('12345678')).rejects.toMatchObject({ code: 'API_KEY_AMBIGUOUS' });
    expect((await keys.list()).map((key) => key.revokedAt)).toEqual([null, null]);
  });
});

describe('a server', () => {
  test('without any key must stay on loopback; a revoked key keeps it closed', async () => {
    for (const host of ['127.0.0.1', '127.8.8.8', '::1', 'localhost'])
      await expect(assertSafeBinding({ host, keys: open() })).resolves.toBeUndefined();
    for (const host of ['0.0.0.0', '::', '192.168.1.5', 'example.com', '10.0.0.1', '127.0.0.1.example.com'])
      await expect(assertSafeBinding({ host, keys: open() })).rejects.toMatchObject({
        code: 'UNSAFE_BINDING',
        message: expect.stringContaining('set API_KEYS'),
      });
    await expect(assertSafeBinding({ host: '0.0.0.0', keys: open(['configured']) })).resolves.toBeUndefined();
    const keys = open();
    const { prefix } = await keys.create('x');
    await keys.revoke(prefix);
    expect(await open().inUse()).toBe(true);
    await expect(assertSafeBinding({ host: '0.0.0.0', keys: open() })).resolves.toBeUndefined();
  });

  test('notices the first key without a restart', async () => {
    const keys = open();
    expect(await keys.inUse()).toBe(false);
    await open().create('first');
    expect(await keys.inUse()).toBe(true);
  });

  test('keeps to what it knew while the database is away', async () => {
    let away = true;
    const keys = createKeyStore({
      database: {
        ...scratch.database,
        query: (statement) => (away ? Promise.reject(new TypeError('away')) : scratch.database.query(statement)),
      },
      configured: [],
      cacheMs: 0,
    });
    await expect(Promise.all([keys.inUse(), keys.inUse()])).rejects.toThrow('away');
    away = false;
    expect(await keys.inUse()).toBe(false);
    away = true;
    expect(await keys.inUse()).toBe(false);
  });

  test('shares its secret with servers that start at the same time and later', async () => {
    const secrets = await Promise.all(
      Array.from({ length: 8 }, () => loadServerSecret(scratch.database, 'cursor')),
    );
    expect(secrets[0]).toHaveLength(32);
    expect(new Set(secrets.map((secret) => secret.toString('hex'))).size).toBe(1);
    expect(await loadServerSecret(scratch.database, 'cursor')).toEqual(secrets[0]);
    expect(await loadServerSecret(scratch.database, 'other')).not.toEqual(secrets[0]);
  });
});
