import { createMetricsRegistry, silentLogger, systemClock, ZERO_ADDRESS } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { migrate, openDatabase } from '@chainstead/db/server';
import { readWalletTransfers, type WalletTransfersQuery, walletTransfersPage } from '@chainstead/erc20';
import {
  backfillRanges,
  createSyncMetrics,
  type RangeCommandOptions,
  reindexRanges,
  verifyRanges,
} from '@chainstead/sync/ingest';
import {
  type ChainNode,
  CONTAINER_HOOK_MS_MAX,
  CONTAINER_IMAGES,
  createScriptedChain,
  exampleChain,
  examplePool,
  findDockerDaemon,
  type ScratchContainer,
  serveScriptedChain,
  startPostgresContainer,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { datasets } from './registry.ts';

const daemon = await findDockerDaemon("a wallet's page on Postgres 15, 16 and 17, and on Citus");

const chain = exampleChain();
const scripted = createScriptedChain({ seed: 11, chainId: chain.id });
scripted.mine(160);
const RANGE = { from: 1, to: 80 };
const never = new AbortController().signal;

/** Looked up next to a wallet's rows, so copied to every node; the wallet's rows are on one. The others stay local. */
const REFERENCE_TABLES = ['tokens', 'address_labels', 'spam_list_entries', 'token_list_entries'];

async function distribute(database: Database): Promise<void> {
  // Citus' estimates for what it hands on between nodes are so high that each page would be compiled first.
  await database.query(sql`ALTER SYSTEM SET jit = off`);
  await database.query(sql`SELECT pg_reload_conf()`);
  await database.query(sql`SELECT create_distributed_table('erc20_transfer_sides', 'account_key')`);
  for (const table of REFERENCE_TABLES)
    await database.query(sql`SELECT create_reference_table(${table}::regclass)`);
}

const everything: WalletTransfersQuery = {
  address: scripted.wallets[0] ?? ZERO_ADDRESS,
  order: 'ASC',
  limit: 7,
  tokens: null,
  fromBlock: null,
  toBlock: null,
  fromDate: null,
  toDate: null,
  pinnedBlock: null,
  after: null,
  count: true,
};

const expected = scripted
  .expectedTransfers(RANGE)
  .filter(({ from, to }) => from === everything.address || to === everything.address);

async function readAll(database: Database, query: WalletTransfersQuery): Promise<string[]> {
  const places: string[] = [];
  let after: WalletTransfersQuery['after'] = null;
  for (;;) {
    const page = await readWalletTransfers(database, chain, { ...query, after });
    places.push(...page.rows.map((row) => `${row.block_number}/${row.log_index} ${row.token} ${row.value}`));
    if (page.next === null) return places;
    after = page.next.position;
  }
}

function shown(transfers: typeof expected): string[] {
  return transfers.map((one) => `${one.blockNumber}/${one.logIndex} ${one.token} ${one.value}`);
}

describe.runIf(daemon).each([...CONTAINER_IMAGES.postgres, CONTAINER_IMAGES.citus])('on %s', (image) => {
  const onCitus = image === CONTAINER_IMAGES.citus;
  let container: ScratchContainer | undefined;
  let node: ChainNode | undefined;
  let database: Database;

  beforeAll(async () => {
    container = await startPostgresContainer(image);
    database = openDatabase({ url: container.url, applicationName: 'chainstead-test', logger: silentLogger() });
    await migrate(database);
    if (onCitus) await distribute(database);
    node = await serveScriptedChain(scripted);
    const pool = await examplePool(chain, node.url);
    const options: RangeCommandOptions = {
      chain,
      pool,
      database,
      datasets,
      logger: silentLogger(),
      metrics: createSyncMetrics(createMetricsRegistry()),
      clock: systemClock,
      proof: 'strict',
      backfillProof: 'none',
    };
    await backfillRanges(options, [RANGE], never);
    await reindexRanges(options, [{ from: 20, to: 40 }], never);
    await database.query(sql`DELETE FROM erc20_transfer_sides WHERE block_number BETWEEN 50 AND 60`);
    const { repairs } = await verifyRanges(options, [{ from: 45, to: 65 }], never);
    expect(repairs.length).toBeGreaterThan(0);
    await pool.close();
  }, CONTAINER_HOOK_MS_MAX);
  afterAll(async () => {
    await node?.close();
    await database?.close();
    await container?.stop();
  });

  test('pages put together are the transfers of the chain, in both orders', async () => {
    expect(expected.length).toBeGreaterThan(20);
    expect(await readAll(database, everything)).toEqual(shown(expected));
    expect(await readAll(database, { ...everything, order: 'DESC' })).toEqual(shown(expected).toReversed());
  });

  test('tokens, blocks and dates bound them, and they are counted', async () => {
    const tokens = [...new Set(expected.map(({ token }) => token))].slice(0, 2);
    const ofTokens = expected.filter(({ token }) => tokens.includes(token));
    expect(await readAll(database, { ...everything, tokens })).toEqual(shown(ofTokens));
    const middle = expected.filter(({ blockNumber }) => blockNumber >= 30 && blockNumber <= 60);
    expect(await readAll(database, { ...everything, fromBlock: 30, toBlock: 60 })).toEqual(shown(middle));
    const [first, last] = [middle.at(0), middle.at(-1)].map(
      (one) => new Date((one?.blockTimestamp ?? 0) * 1_000),
    );
    expect(await readAll(database, { ...everything, fromDate: first ?? null, toDate: last ?? null })).toEqual(
      shown(middle),
    );
    const { count, indexed } = await readWalletTransfers(database, chain, everything);
    expect(count).toBe(expected.length);
    expect(indexed).toMatchObject({ fromBlock: RANGE.from, toBlock: RANGE.to });
  });

  test.runIf(onCitus)('a page asks one shard for the wallet, not all of them', async () => {
    const spread = await database.query<{ shards: number }>(
      sql`SELECT count(*) AS shards FROM citus_shards WHERE table_name = 'erc20_transfer_sides'::regclass AND citus_table_type = 'distributed'`,
    );
    expect(spread[0]?.shards).toBeGreaterThan(1);
    const statement = walletTransfersPage(chain, everything, 'shown').statement();
    const plan = await database.query<{ 'QUERY PLAN': string }>(sql`EXPLAIN ${statement}`);
    const tasks = plan.flatMap((line) => /Task Count: (\d+)/.exec(line['QUERY PLAN'])?.[1] ?? []);
    expect(tasks.length).toBeGreaterThan(0);
    expect(tasks.filter((count) => count !== '1')).toEqual([]);
  });
});
