import { parseChainId } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensurePartitions } from './ensure-partitions.ts';

const TABLE = { name: 'placed', rowsPerPartition: 1_000 };
const CHAIN = parseChainId(1);
const DENSITY = { rows: 1_000, blocks: 1 };
const WANTED = [{ table: TABLE, density: DENSITY }];

const scratch = scratchOfFile();

beforeAll(async () => {
  await scratch.database.query(
    sql`CREATE TABLE placed (account bigint, chain_id bigint, block_number integer, PRIMARY KEY (account, chain_id, block_number)) PARTITION BY RANGE (chain_id, block_number)`,
  );
});

const ensure = (block: number) => ensurePartitions(scratch.database, CHAIN, [{ from: block, to: block }], WANTED);
/** Returns a value that changes with each announcement. */
const announced = async (): Promise<unknown> => {
  const [row] = await scratch.database.query(
    sql`SELECT xmin::text FROM pg_attribute WHERE attrelid = 'placed'::regclass AND attname = 'chain_id'`,
  );
  return row;
};

describe('a new partition', () => {
  it('is ready once the transactions that may have planned without it have ended', async () => {
    const order: string[] = [];
    const reader = new pg.Client({ connectionString: scratch.url });
    await reader.connect();
    await reader.query('BEGIN');
    await reader.query('SELECT count(*) FROM placed');
    const ready = ensure(1).then(() => order.push('ready'));
    await expect.poll(() => readAttached()).toBe(1);
    order.push('reader ends');
    await reader.query('COMMIT');
    await ready;
    expect(order).toEqual(['reader ends', 'ready']);
    await reader.end();
  });

  it('does not wait for ever for a reader that stays', async () => {
    const reader = new pg.Client({ connectionString: scratch.url });
    await reader.connect();
    await reader.query('BEGIN');
    await reader.query('SELECT count(*) FROM placed');
    expect(await ensure(2)).toHaveLength(1);
    await reader.query('ROLLBACK');
    await reader.end();
  });

  it('is announced again to sessions that did not hear of it', async () => {
    await ensure(3);
    const before = await announced();
    expect(await ensure(3)).toEqual([]);
    expect(await announced()).not.toEqual(before);
  });

  it('is known to every session at once, whatever they were doing', async () => {
    let attached = 3;
    const ended = new AbortController();
    const missed: number[] = [];
    const look = async (): Promise<void> => {
      // A new session must list all partitions first, which takes it longest.
      for (let looks = 0; !ended.signal.aborted; ) {
        const session = new pg.Client({ connectionString: scratch.url });
        await session.connect();
        for (const limit = looks + 10; looks < limit && !ended.signal.aborted; looks++) {
          const known = attached;
          const plan = await session.query(
            `EXPLAIN SELECT FROM placed WHERE chain_id = 1 AND block_number = ${known}`,
          );
          if (!/ on placed_1_/.test(JSON.stringify(plan.rows))) missed.push(known);
        }
        await session.end();
      }
    };
    const lookers = Array.from({ length: 6 }, look);
    for (let block = 4; block < 60; block++) {
      await ensure(block);
      attached = block;
    }
    ended.abort();
    await Promise.all(lookers);
    expect(missed).toEqual([]);
  });
});

async function readAttached(): Promise<number> {
  const rows = await scratch.database.query(sql`SELECT FROM pg_inherits WHERE inhparent = 'placed'::regclass`);
  return rows.length;
}
