/** Sources of history from outside: the real program is killed and reconfigured while it reads them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BlockRange, systemClock } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import {
  type ChainSource,
  createScratchDatabase,
  createScriptedChain,
  createSeededRandom,
  type JsonObject,
  type ScriptedChain,
  type SourceBlock,
  serveHyperSync,
  servePortal,
  serveScriptedChain,
  startProgram,
  TRANSFER_TOPIC,
  writeEraFolder,
} from '@chainstead/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { scriptedChainFacts, waitUntil } from './indexed-chain.ts';
import { expectEqualToFreshIndex, expectTruth, untilIndexed } from './indexed-tables.ts';

const KEY = 'history-sources-0123456789';
const random = createSeededRandom('history-sources');
const LOOK_MS = 25;
const FINALITY_DEPTH = 16;

/** A chain with its node and a database, and what starts the program over them. */
async function openStage(chainId: number, blocks: number, startBlock: number) {
  const chain = createScriptedChain({
    seed: chainId,
    chainId,
    finalityDepth: FINALITY_DEPTH,
    transactionsMax: 2,
  });
  chain.mine(blocks);
  const parts = new AsyncDisposableStack();
  onTestFinished(() => parts.disposeAsync());
  /** First blocks of `eth_getLogs`. */
  const logReads: number[] = [];
  const serving = serveScriptedChain(chain, {
    methods: (_view, methods) =>
      new Map(methods).set('eth_getLogs', (params) => {
        logReads.push(Number((params[0] as { readonly fromBlock: string }).fromBlock));
        return methods.get('eth_getLogs')?.(params) ?? { result: [] };
      }),
  });
  const node = parts.adopt(await serving, (one) => one.close());
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const folder = parts.adopt(await mkdtemp(join(tmpdir(), 'sources-')), (one) => rm(one, { recursive: true }));
  const environment = {
    ...{ DATABASE_URL: scratch.url, DATA_DIR: folder, PORT: '0', API_KEYS: KEY, LOG_LEVEL: 'info' },
    ...{ CHAINS: 'sourced', CHAIN_ID_SOURCED: String(chainId), RPC_URLS_SOURCED: node.url },
    // Its transactions have no signatures.
    ...{ SWAPS_SOURCED: 'off', START_BLOCK_SOURCED: String(startBlock), POLL_INTERVAL_MS: '20' },
    ...{ VERIFICATION_SOURCED: 'strict', VERIFY_BLOCKS_PER_SECOND: '2000' },
  };
  const run = (args: readonly string[], settings: Readonly<Record<string, string>> = {}) =>
    parts.use(startProgram(args, { environment: { ...environment, ...settings } }));
  return { chain, node, logReads, folder, database: scratch.database, parts, run };
}

/** The chain as it was before a reorganisation that the source does not know yet. */
function staleView(chain: ScriptedChain): ChainSource {
  const blocks = new Map(chain.blocksIn({ from: 0, to: chain.head }).map((block) => [block.number, block]));
  const { head } = chain;
  return { ...chain, head, finalized: head, firstBlock: 0, blockAt: (number) => blocks.get(number) };
}

/** Up to the last final block: blocks above it are followed, not backfilled. */
const coveredBlocks = async (database: Database, lastFinal: number): Promise<number> => {
  const [row] = await database.query<{ blocks: number }>(
    sql`SELECT coalesce(sum(least(last_block, ${lastFinal}) - first_block + 1), 0)::int AS blocks
      FROM sync_ranges WHERE dataset = 'erc20-transfers' AND first_block <= ${lastFinal}`,
  );
  return row?.blocks ?? 0;
};

const readCheckpoint = async (database: Database): Promise<number> => {
  const [row] = await database.query<{ checkpoint: number | null }>(sql`SELECT checkpoint FROM sync_chains`);
  return row?.checkpoint ?? 0;
};

test('kills, a reorg, another source at each start and an added contract leave the rows of nodes', async () => {
  const id = 1_337_062;
  const OLDEST = 200;
  const { chain, node, folder, database, parts, run } = await openStage(id, 1_000, OLDEST + 1);
  // The first Portal holds blocks of the newest branch for final that a reorganisation replaces.
  const slow = { pageBlocks: 20, latencyMs: 100 };
  const stale = parts.adopt(await servePortal(staleView(chain), { faults: slow }), (one) => one.close());
  chain.reorg(6, 8);
  const lastFinal = chain.head - FINALITY_DEPTH;
  const portal = parts.adopt(await servePortal(chain, { faults: slow }), (one) => one.close());
  const hyperSync = parts.adopt(await serveHyperSync(chain, { faults: { pageBlocks: 40 } }), (one) =>
    one.close(),
  );
  const era = join(folder, 'era');
  await writeEraFolder({ folder: era, network: 'sourced', blocks: chain.blocksIn({ from: 0, to: 600 }) });
  const hyperSyncEntry = `hypersync:http://token@${new URL(hyperSync.url).host}`;
  const start = (history: string | null, proof: string, settings = {}) =>
    run(['start', '--roles', 'ingest'], {
      ...settings,
      BACKFILL_PROOF_SOURCED: proof,
      ...(history !== null && { HISTORY_SOURCED: history }),
    });

  // What a process read when it was killed is read again from the node.
  node.faults.set({ latencyMs: 200 });
  const requests = () => stale.queries.length + portal.queries.length + hyperSync.queries.length;
  let inBackfill = 0;
  let followed = 0;
  for (const [history, proof, isAfterCommit] of [
    [`portal:${stale.url}`, 'receipts', false],
    [`portal:${portal.url}`, 'none', false],
    [`portal:${portal.url},era:${era}`, 'receipts', false],
    [null, 'none', true],
  ] as const) {
    const program = start(history, proof);
    await waitUntil(() => (program.output().includes('Leading the chain') ? null : program.output()));
    // A block at which the follower is killed three times would be quarantined.
    await waitUntil(
      async () =>
        (await readCheckpoint(database)) > Math.min(followed, chain.head - 1) ? null : program.output(),
      undefined,
      LOOK_MS,
    );
    const [before, calls, covered] = [
      requests(),
      node.counters.httpRequests,
      await coveredBlocks(database, lastFinal),
    ];
    await waitUntil(
      () =>
        (history === null ? node.counters.httpRequests - calls : requests() - before) > 2 ? null : 'no request',
      undefined,
      LOOK_MS,
    );
    // Nothing more is committed if all is there.
    if (isAfterCommit && covered < lastFinal - OLDEST)
      await waitUntil(
        async () => ((await coveredBlocks(database, lastFinal)) > covered ? null : 'nothing was committed'),
        undefined,
        LOOK_MS,
      );
    await systemClock.sleep(random.integer(0, 150));
    await program.kill();
    followed = await readCheckpoint(database);
    if ((await coveredBlocks(database, lastFinal)) < lastFinal - OLDEST) inBackfill += 1;
  }
  expect(inBackfill).toBeGreaterThan(1);
  node.faults.clear();

  // Older blocks are left, and come slowly until the contract is added.
  hyperSync.faults.set({ latencyMs: 1_000 });
  const program = start(hyperSyncEntry, 'none', { START_BLOCK_SOURCED: '1' });
  await waitUntil(() => (program.output().includes('Leading the chain') ? null : program.output()));
  const token = chain.tokens.find(({ kind }) => kind === 'erc20')?.address;
  if (token === undefined) throw new Error('The script has no token');
  const abi = join(folder, 'abi.json');
  await writeFile(abi, JSON.stringify([TRANSFER]));
  const added = run(['contracts', 'add', 'token', '--chain', 'sourced', '--abi', abi, '--address', token]);
  expect(await added.exited, added.output()).toBe(0);
  expect(await coveredBlocks(database, lastFinal)).toBeLessThan(lastFinal);
  hyperSync.faults.clear();
  const facts = scriptedChainFacts(id);
  await untilIndexed(database, facts, chain, { proven: true });
  const transfers = transfersOf(chain, token);
  expect(transfers.length).toBeGreaterThan(10);
  const stored = sql`SELECT block_number, log_index, value::text FROM analytics.contract_token_transfer ORDER BY 1, 2`;
  await vi.waitFor(async () => expect(await database.query(stored)).toEqual(transfers), {
    timeout: 30_000,
    interval: 100,
  });
  const { code } = await program.stop();
  expect(code, program.output()).toBe(0);
  await expectTruth(database, facts, chain);
  await expectEqualToFreshIndex(database, facts, chain);
  expect(await database.query(sql`SELECT * FROM sync_claims`)).toEqual([]);
});

/** By its logs, of which some have more data than an amount. */
function transfersOf(chain: ScriptedChain, token: string) {
  const logs = chain.blocksIn({ from: 1, to: chain.head }).flatMap(logsOf);
  return logs.flatMap((log) => {
    const { address, topics, data } = log as { address: string; topics: readonly string[]; data: string };
    if (address !== token || topics[0] !== TRANSFER_TOPIC || topics.length !== 3 || data.length < 66) return [];
    const value = String(BigInt(data.slice(0, 66)));
    return [{ blockNumber: Number(log.blockNumber), logIndex: Number(log.logIndex), value }];
  });
}

const logsOf = ({ receipts }: SourceBlock): readonly JsonObject[] =>
  receipts.flatMap(({ logs }) => logs as readonly JsonObject[]);

const address = (name: string) => ({ name, type: 'address', indexed: true });
const TRANSFER = {
  ...{ type: 'event', name: 'Transfer', anonymous: false },
  inputs: [address('from'), address('to'), { name: 'value', type: 'uint256', indexed: false }],
};

interface Collections {
  readonly status: string;
  readonly indexed: { readonly from_block: string | null; readonly complete: boolean };
  readonly result: readonly { readonly token_address: string; readonly count: number }[];
}

test('the history of a wallet comes from a source at its first request, and continues after a kill', async () => {
  const START = 5_200;
  const { chain, logReads, database, parts, run } = await openStage(1_337_063, START + 100, START);
  const portal = parts.adopt(await servePortal(chain), (one) => one.close());
  const start = () => run(['start'], { HISTORY_SOURCED: `portal:${portal.url}` });
  let program = start();
  let url = await program.url;
  const old = chain.expectedNftMoves({ from: 0, to: START - 1 });
  const wallet = old[0]?.to ?? '';
  const isOfWallet = (query: string) => query.includes(wallet.slice(2));
  const read = async (): Promise<Collections> => {
    const response = await fetch(`${url}/api/v2.2/${wallet}/nft/collections?chain=sourced&token_counts=true`, {
      headers: { 'x-api-key': KEY },
    });
    expect(response.status, program.output()).toBe(200);
    return (await response.json()) as Collections;
  };
  const lastFinal = chain.head - FINALITY_DEPTH;
  await waitUntil(async () =>
    (await coveredBlocks(database, lastFinal)) > lastFinal - START ? null : program.output(),
  );
  // Its responses don't end: the history is being read when the program is killed.
  portal.faults.set({ dripMs: 1_000 });
  let first = await read();
  await waitUntil(async () => {
    first = await read();
    return portal.queries.some(isOfWallet) ? null : program.output();
  });
  expect(first).toMatchObject({ status: 'SYNCING', indexed: { from_block: String(START), complete: false } });
  await program.kill();
  portal.faults.clear();
  const readBefore = portal.queries.length;
  program = start();
  url = await program.url;
  await vi.waitFor(async () => expect((await read()).status).toBe('SYNCED'), { timeout: 60_000, interval: 100 });
  const whole = await read();
  expect(whole.indexed).toMatchObject({ from_block: '0', complete: true });
  expect(new Map(whole.result.map((one) => [one.token_address, one.count]))).toEqual(heldBy(chain, wallet));
  const readAfter = portal.queries.slice(readBefore);
  expect(readAfter.some(isOfWallet)).toBe(true);
  // Only the prover reads stored blocks again, as whole blocks.
  const ofLogs = readAfter.filter((query) => !query.includes('includeAllBlocks'));
  expect(ofLogs.filter((query) => Number((JSON.parse(query) as JsonObject).toBlock) >= START)).toEqual([]);
  expect(logReads.filter((block) => block < START)).toEqual([]);
});

/** Number of tokens by collection. */
function heldBy(chain: ScriptedChain, wallet: string): ReadonlyMap<string, number> {
  const range: BlockRange = { from: 0, to: chain.head };
  const isMany = new Set<string>(
    chain.tokens.flatMap(({ kind, address: of }) => (kind === 'erc1155' ? [of] : [])),
  );
  const amounts = new Map<string, bigint>();
  for (const { token, tokenId, from, to, amount } of chain.expectedNftMoves(range)) {
    const key = `${token} ${tokenId}`;
    if (isMany.has(token)) {
      const change = (to === wallet ? amount : 0n) - (from === wallet ? amount : 0n);
      amounts.set(key, (amounts.get(key) ?? 0n) + change);
    } else if (to === wallet || from === wallet) amounts.set(key, to === wallet ? 1n : 0n);
  }
  const held = [...amounts].filter(([, amount]) => amount > 0n).map(([key]) => key.slice(0, key.indexOf(' ')));
  return new Map(
    Object.entries(Object.groupBy(held, (token) => token)).map(([token, ids]) => [token, ids?.length ?? 0]),
  );
}
