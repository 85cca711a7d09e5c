import {
  CONTAINER_HOOK_MS_MAX,
  CONTAINER_IMAGES,
  coverBlocks,
  findDockerDaemon,
  type ScratchContainer,
  type ScratchDatabase,
  type ScratchServer,
  startPostgresContainer,
  startScratchServer,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { transactionLock } from './citus/commit-lock.ts';
import { COPY_NULL, copyHex, copyText, copyValue } from './copy/copy-text.ts';
import { tryAcquireLeadership } from './locks/leadership.ts';
import { migrate } from './migrations/migrate.ts';
import { sql } from './sql.ts';

const daemon = await findDockerDaemon('migrations, COPY, locks and leases on Postgres 15, 16 and 17');

describe.runIf(daemon).each(CONTAINER_IMAGES.postgres)('on %s', (image) => {
  let container: ScratchContainer | undefined;
  let server: ScratchServer | undefined;
  let scratch: ScratchDatabase;

  beforeAll(async () => {
    container = await startPostgresContainer(image);
    server = await startScratchServer({ url: container.url });
    scratch = await server.createDatabase();
  }, CONTAINER_HOOK_MS_MAX);
  afterAll(async () => {
    await scratch?.drop();
    await server?.stop();
    await container?.stop();
  });

  test('every migration has been applied to the version that the image is named after', async () => {
    const [row] = await scratch.database.query<{ major: number; migrations: number }>(
      sql`SELECT current_setting('server_version_num')::int / 10000 AS major, count(*) AS migrations FROM schema_migrations`,
    );
    expect(`postgres:${row?.major}-bookworm`).toBe(image);
    expect(row?.migrations).toBeGreaterThan(2);
    expect((await migrate(scratch.database)).applied).toEqual([]);
  });

  test('COPY writes many rows, and every kind of value as it was', async () => {
    const blocks = Array.from({ length: 20_000 }, (_, number) =>
      [1, number, copyHex('0xab00'), COPY_NULL, copyValue(new Date(1_700_000_000_123 + number))].join('\t'),
    );
    const columns = ['chain_id', 'block_number', 'block_hash', 'parent_hash', 'block_timestamp'];
    const copied = await scratch.database.transaction(async (transaction) => {
      await transaction.copy(
        'tokens',
        ['address', 'chain_id', 'name', 'decimals'],
        [[copyHex('0x00ff'), 1, copyText('tab\t, slash \\, 🦄, NUL\0'), COPY_NULL].join('\t')],
      );
      return transaction.copy('blocks', columns, blocks);
    });
    expect(copied).toBe(20_000);
    expect(await scratch.database.query(sql`SELECT address, name, decimals FROM tokens`)).toEqual([
      { address: Buffer.from('00ff', 'hex'), name: 'tab\t, slash \\, 🦄, NUL', decimals: null },
    ]);
    expect(await scratch.database.query(sql`SELECT * FROM blocks WHERE block_number = 19999`)).toEqual([
      {
        chainId: 1,
        blockNumber: 19_999,
        blockHash: Buffer.from('ab00', 'hex'),
        parentHash: null,
        blockTimestamp: new Date(1_700_000_020_122),
      },
    ]);
  });

  test('a lease has one holder at a time, and is free after its release', async () => {
    const { leadership } = await tryAcquireLeadership(scratch.database, 'versions');
    expect(leadership).not.toBeNull();
    expect((await tryAcquireLeadership(scratch.database, 'versions')).leadership).toBeNull();
    await leadership?.release();
    const next = await tryAcquireLeadership(scratch.database, 'versions');
    expect(next.leadership).not.toBeNull();
    await next.leadership?.release();
  });

  test('a lock queues transactions', async () => {
    const [held, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = scratch.database.transaction(async (transaction) => {
      await transactionLock(transaction, 'versions');
      held.resolve();
      await free.promise;
    });
    await held.promise;
    const order: string[] = [];
    const second = scratch.database.transaction(async (transaction) => {
      await transactionLock(transaction, 'versions');
      order.push('second');
    });
    await vi.waitFor(async () =>
      expect(
        await scratch.database.query(sql`SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'`),
      ).toHaveLength(1),
    );
    order.push('first');
    free.resolve();
    await Promise.all([first, second]);
    expect(order).toEqual(['first', 'second']);
  });

  test('ranges that overlap are refused, neighbours are not', async () => {
    const cover = (first: number, last: number) => coverBlocks(scratch.database, 1, 'x', first, last, 'none');
    await cover(1, 10);
    await cover(11, 20);
    await expect(cover(20, 30)).rejects.toMatchObject({ code: '23P01' });
  });
});
