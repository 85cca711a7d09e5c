import { type Database, sql, statementOf } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { ALL_SCOPES, createFirstAdminKey, createKeyStore } from '../keys/key-store.ts';
import { type AuditActor, listAudit, recordAudit } from './audit-log.ts';

const scratch = scratchOfFile();
beforeEach(() => scratch.database.query(sql`TRUNCATE audit_log, api_keys`));

const BY: AuditActor = { door: 'console', id: '0123abcd', name: 'Ann', address: '10.0.0.7', requestId: 'r-1' };
const open = (database: Database = scratch.database) => createKeyStore({ database, configured: [], cacheMs: 0 });

describe('the audit log', () => {
  test('has every change of a key with who, what, when and from where, and no key', async () => {
    const keys = open();
    const { key, prefix } = await keys.create('shop', new Set(['data']), BY);
    await keys.setScopes(prefix, new Set(['rpc']), BY);
    await keys.setRateLimit(prefix, 5, BY);
    await keys.revoke(key, BY);
    const records = await listAudit(scratch.database, null, 10);
    expect(records.map(({ action }) => action)).toEqual(['key.revoke', 'key.rate', 'key.scopes', 'key.create']);
    for (const record of records) expect(record).toMatchObject({ ...BY, target: prefix, at: expect.any(Date) });
    expect(records[1]?.details).toEqual({ name: 'shop', rate_limit: 5 });
    expect(JSON.stringify(records)).not.toContain(key);
  });

  test('and the change are there together, or neither', async () => {
    const { prefix } = await open().create('shop', ALL_SCOPES, BY);
    const failing: Database = {
      ...scratch.database,
      transaction: (work) =>
        scratch.database.transaction((transaction) =>
          work({
            ...transaction,
            query: (statement) => {
              if (statementOf(statement).text.includes('INSERT INTO audit_log')) throw new Error('no room');
              return transaction.query(statement);
            },
          }),
        ),
    };
    await expect(open(failing).revoke(prefix, BY)).rejects.toThrow('no room');
    await expect(open(failing).create('other', ALL_SCOPES, BY)).rejects.toThrow('no room');
    expect(await open().list()).toMatchObject([{ prefix, revokedAt: null }]);
    expect(await listAudit(scratch.database, null, 10)).toHaveLength(1);
  });

  test('is paged from the newest on, whatever arrives meanwhile', async () => {
    const write = (target: string) =>
      scratch.database.transaction((transaction) => recordAudit(transaction, BY, { action: 'test', target }));
    for (const target of ['1', '2', '3', '4']) await write(target);
    const first = await listAudit(scratch.database, null, 2);
    await write('5');
    const second = await listAudit(scratch.database, first.at(-1)?.entry ?? '', 2);
    expect([...first, ...second].map(({ target }) => target)).toEqual(['4', '3', '2', '1']);
  });
});

describe('the first key for the console', () => {
  test('is made once, by one of several programs, and leaves a server open that was', async () => {
    const failing = createFirstAdminKey(scratch.database, [], () => Promise.reject(new Error('no space')));
    await expect(failing).rejects.toThrow('no space');
    const kept: string[] = [];
    const made = await Promise.all(
      [1, 2, 3].map(() => createFirstAdminKey(scratch.database, [], async (key) => void kept.push(key))),
    );
    const [key, ...others] = made.filter((one) => one !== null);
    expect(others).toEqual([]);
    expect(kept).toEqual([key]);
    expect([...((await open().verify(key ?? ''))?.scopes ?? [])]).toEqual(['admin']);
    expect(await open().inUse()).toBe(false);
    expect(await listAudit(scratch.database, null, 10)).toMatchObject([{ door: 'start', action: 'key.create' }]);
    await open().create('another');
    expect(await open().inUse()).toBe(true);
  });

  test('is not made where one with the scope admin is configured, or was ever made', async () => {
    const keep = () => Promise.reject(new Error('Nothing is made'));
    expect(
      await createFirstAdminKey(scratch.database, [{ key: 'some-key-1', scopes: ALL_SCOPES }], keep),
    ).toBeNull();
    const { prefix } = await open().create('admin', new Set(['admin']));
    await open().revoke(prefix);
    expect(
      await createFirstAdminKey(scratch.database, [{ key: 'some-key-1', scopes: new Set(['rpc']) }], keep),
    ).toBeNull();
  });
});
