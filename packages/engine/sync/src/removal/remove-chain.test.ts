import { rawSql, sql, tryAcquireLeadership } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { openScriptedStage } from '../testing/scripted-stage.ts';
import { listEvmChains, measureChain, readChainTables, storedEvmChain } from './chain-tables.ts';
import { ChainBeingRemovedError, removeChain, requireNotBeingRemoved } from './remove-chain.ts';

/** Chains that are removed, and one whose rows stay. */
const [GONE, CUT, HELD, READ, STAYING] = [971_001, 971_002, 971_003, 971_004, 971_009];
const CHAINS = [GONE, CUT, HELD, READ, STAYING];
/** Blocks of each chain. Those of all five take more pages than one statement deletes. */
const BLOCKS = 30_000;
const NEVER = new AbortController().signal;
const STORED = {
  account_codes: 1,
  blocks: BLOCKS,
  head_reports: 1,
  internal_transfers: 200,
  sync_chains: 1,
  sync_ranges: 1,
  upstream_calls: 1,
};
const scratch = scratchOfFile();

beforeAll(async () => {
  const { database } = scratch;
  for (const [from, to] of [
    [0, 100],
    [100, 300],
  ])
    for (const id of CHAINS)
      await database.query(
        rawSql(
          `CREATE TABLE internal_transfers_${id}_${from} PARTITION OF internal_transfers FOR VALUES FROM (${id}, ${from}) TO (${id}, ${to})`,
        ),
      );
  const ofAll = (statement: string) =>
    database.query(sql`${rawSql(statement)} FROM unnest(${CHAINS}::bigint[]) AS id`);
  await ofAll(
    `INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed) SELECT id, 'chain-' || id, 0, 0`,
  );
  await ofAll(
    `INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) SELECT id, 'logs', 0, ${BLOCKS - 1}, 'none'`,
  );
  await ofAll(
    `INSERT INTO head_reports (chain, reporter, reported_at) SELECT id::text, gen_random_uuid(), now() - interval '1 day'`,
  );
  await ofAll(
    `INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
     SELECT id, generate_series(0, ${BLOCKS - 1}), decode(repeat('ab', 32), 'hex'), now()`,
  );
  await ofAll(`INSERT INTO account_codes (address, chain_id, has_code) SELECT '\\x01', id, true`);
  await ofAll(
    `INSERT INTO internal_transfers (account_key, chain_id, block_number, transaction_index, trace_index, direction,
       account, counterparty, value, transaction_hash, type)
     SELECT 1, id, generate_series(0, 199), 0, 0, 0, '\\x01', '\\x02', 1, '\\x03', 'call'`,
  );
  await ofAll(
    `INSERT INTO upstream_calls (slot, chain, upstream, role, outcome, calls, busy_ms, latency)
     SELECT now(), 'chain-' || id, 'a', 'ingest', 'ok', 1, 1, '{1}'`,
  );
  await database.query(
    sql`INSERT INTO aptos_networks (network, chain_id, history_start, first_followed) VALUES ('mainnet', ${GONE}, 0, 0)`,
  );
  await ofAll(`INSERT INTO token_list_entries (address, chain_id, source) SELECT '\\x01', id, 'a list'`);
});

const chainOf = (id: number) => storedEvmChain(id, `chain-${id}`);

/** Rows of a chain by table, as a removal shows them before it asks. */
async function rowsOf(id: number): Promise<Readonly<Record<string, number>>> {
  const { database } = scratch;
  const measured = await measureChain(database, await readChainTables(database, chainOf(id)));
  return Object.fromEntries(measured.map(({ table, rows }) => [table, rows]));
}

const remove = (id: number, signal = NEVER, onProgress: (rows: number) => void = () => undefined) =>
  removeChain(
    {
      ...{ database: scratch.database, chain: chainOf(id), removeContracts: async () => undefined },
      onProgress: ({ rows }) => onProgress(rows),
    },
    signal,
  );

const listed = async () => (await listEvmChains(scratch.database)).map(({ id }) => id);

describe('the removal of a chain', () => {
  it('measures the partitions of contracts', async () => {
    const { database } = scratch;
    for (const statement of [
      'CREATE SCHEMA contracts',
      'CREATE TABLE contracts.vault_sent (chain_id bigint, block_number bigint) PARTITION BY RANGE (chain_id, block_number)',
      `CREATE TABLE contracts.vault_sent_1 PARTITION OF contracts.vault_sent FOR VALUES FROM (${GONE}, 0) TO (${GONE}, 100)`,
      `INSERT INTO contracts.vault_sent VALUES (${GONE}, 1)`,
    ])
      await database.query(rawSql(statement));
    const measured = await measureChain(database, await readChainTables(database, chainOf(GONE)));
    expect(measured).toContainEqual({ table: 'contracts.vault_sent', rows: 1, bytes: 8_192, isExact: true });
    await database.query(sql`DROP SCHEMA contracts CASCADE`);
  });

  it('deletes its rows in all tables and its partitions, but no row of another chain or of an imported list', async () => {
    expect(await rowsOf(GONE)).toEqual(STORED);
    expect(await listed()).toEqual(CHAINS);
    const rows = await remove(GONE);
    // Rows of dropped partitions are estimated.
    expect(rows).toBeGreaterThan(BLOCKS);
    expect(await rowsOf(GONE)).toEqual({});
    expect(await rowsOf(STAYING)).toEqual(STORED);
    expect(await listed()).toEqual([CUT, HELD, READ, STAYING]);
    const left = await scratch.database.query(sql`SELECT FROM token_list_entries WHERE chain_id = ${GONE}`);
    expect(left).toHaveLength(1);
    // The id of an Aptos network is that of an EVM chain.
    expect(await scratch.database.query(sql`SELECT FROM aptos_networks`)).toHaveLength(1);
    const partitions = await scratch.database.query(
      sql`SELECT FROM pg_class WHERE relname ~ '^internal_transfers_971001'`,
    );
    expect(partitions).toEqual([]);
  });

  it('deletes in several statements, and continues after an interruption', async () => {
    const stop = new AbortController();
    const steps: number[] = [];
    const cut = remove(CUT, stop.signal, (rows) => {
      steps.push(rows);
      // The first of its blocks are gone, and others are not.
      if (rows > BLOCKS / 2) stop.abort(new Error('stopped by the test'));
    });
    await expect(cut).rejects.toThrow('stopped by the test');
    const left = await rowsOf(CUT);
    // Its coverage went first, so that no response counts missing rows.
    expect(left).not.toHaveProperty('sync_ranges');
    expect(left).toHaveProperty('sync_chains', 1);
    expect(await listed()).toContain(CUT);
    const facts = { id: CUT, key: 'chain-971002' };
    await expect(requireNotBeingRemoved(scratch.database, facts)).rejects.toBeInstanceOf(ChainBeingRemovedError);
    await remove(CUT);
    expect(await rowsOf(CUT)).toEqual({});
    await requireNotBeingRemoved(scratch.database, facts);
  });

  it('keeps a chain from being indexed until it is finished', async () => {
    const { database } = scratch;
    await createMarkTables(database);
    await using stage = await openScriptedStage(database, 971_010, [marks], { blocks: 20, firstFollowed: null });
    await database.query(
      sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, stop_code, stop_message, updated_at)
       VALUES (971010, 0, 0, 'CHAIN_BEING_REMOVED', 'cut', now() - interval '1 day')
       ON CONFLICT (chain_id) DO UPDATE SET stop_code = excluded.stop_code, stop_message = excluded.stop_message`,
    );
    const sync = stage.sync([marks]);
    const stopped = sql`SELECT stop_message AS message FROM sync_chains WHERE chain_id = 971010 AND stop_message <> 'cut'`;
    await vi.waitFor(
      async () =>
        expect(await database.query(stopped)).toMatchObject([
          { message: expect.stringContaining('not finished') },
        ]),
      { timeout: 10_000, interval: 50 },
    );
    expect((await stage.coverageOf(marks)).ranges).toEqual([]);
    await sync.stop();
    await remove(971_010);
    stage.sync([marks]);
    await stage.untilCovered(marks);
  });

  it('refuses a chain that a process leads, or reports on, and deletes nothing', async () => {
    const { leadership } = await tryAcquireLeadership(scratch.database, `ingest:${HELD}`);
    await expect(remove(HELD)).rejects.toMatchObject({
      code: 'CHAIN_INDEXED',
      remedy: expect.stringMatching(/CHAINS/),
    });
    await leadership?.release();
    await scratch.database.query(sql`UPDATE head_reports SET reported_at = now() WHERE chain = ${String(HELD)}`);
    await expect(remove(HELD)).rejects.toMatchObject({ code: 'CHAIN_INDEXED' });
    expect(await rowsOf(HELD)).toEqual(STORED);
  });

  // Invariant: DB-SHORT-LOCKS
  it('waits for a reader of a partition, while other chains get partitions and rows of the table', async () => {
    const { database } = scratch;
    let removing: Promise<number> = Promise.resolve(0);
    await database.transaction(async (reader) => {
      await reader.query(sql`SELECT count(*) FROM internal_transfers_${rawSql(READ)}_0`);
      removing = remove(READ);
      const pending = sql`SELECT FROM pg_inherits WHERE inhdetachpending`;
      await expect.poll(() => database.query(pending), { timeout: 10_000 }).toHaveLength(1);
      for (const from of [1_000, 2_000, 3_000])
        await database.query(
          sql`SELECT attach_partition('internal_transfers'::regclass, ${STAYING}, ${from}, ${from + 1_000})`,
        );
      expect(await rowsOf(STAYING)).toEqual(STORED);
    });
    await removing;
    expect(await rowsOf(READ)).toEqual({});
  });

  it('finishes the partitions that an interrupted removal left detached', async () => {
    await scratch.database.query(sql`UPDATE head_reports SET reported_at = now() - interval '1 day'`);
    await scratch.database.query(
      sql`ALTER TABLE internal_transfers DETACH PARTITION internal_transfers_${rawSql(HELD)}_0`,
    );
    await remove(HELD);
    const partitions = await scratch.database.query(
      sql`SELECT FROM pg_class WHERE relname ~ '^internal_transfers_971003'`,
    );
    expect(partitions).toEqual([]);
    expect(await rowsOf(STAYING)).toEqual(STORED);
  });
});
