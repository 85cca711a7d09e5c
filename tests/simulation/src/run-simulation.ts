/** Plays one plan: the real program against a scripted chain, then its tables against a fresh index of the final chain. */
import { type Clock, systemClock, waitingAtMost } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { subjectProjectionsOf } from '@chainstead/sync';
import type { SubjectProjection } from '@chainstead/sync/datasets';
import { createSubjectProjections, ensurePartitions } from '@chainstead/sync/ingest';
import {
  type ChainNode,
  compareTableRows,
  createScriptedChain,
  readTableRows,
  type ScratchDatabase,
  type ScriptedChain,
  serveScriptedChain,
  type TableDifference,
} from '@chainstead/testkit';
import { readProgress, untilAtWork, untilKillIsHarmless } from './begun-work.ts';
import { indexFresh } from './fresh-index.ts';
import { type IngestProcess, startIngest } from './ingest-process.ts';
import type { Plan, Step } from './plan.ts';
import { CHAIN_ID, MARKETPLACE, simulatedChain, simulatedDatasets } from './simulated-chain.ts';
import type { SimulatedServers } from './simulated-servers.ts';

export interface SimulationResult {
  readonly seed: number;
  readonly blocks: number;
  /** ERC-20 transfers, NFTs that moved, and NFTs that were sold. */
  readonly transfers: number;
  readonly nftMoves: number;
  readonly nftSales: number;
  readonly reorgs: number;
  readonly kills: number;
  /** Kills of a program that had written something since it was started. */
  readonly killsAtWork: number;
  readonly repairs: number;
  readonly seconds: number;
  /** Null when everything is as it must be. */
  readonly failure: string | null;
}

/** What a soak adds to a run. */
export interface LongRun {
  /** As in `--roles`. */
  readonly roles: string;
  /** Further settings of the program. */
  readonly settings: Readonly<Record<string, string>>;
  /** Ends the steps early. */
  readonly signal: AbortSignal;
  /** Starts work concurrent to the steps. @returns a function that ends it once everything is indexed, and returns the faults */
  begin(
    chain: ScriptedChain,
    scratch: ScratchDatabase,
    environment: Readonly<Record<string, string>>,
  ): Promise<() => Promise<readonly string[]>>;
}

const SETTLE_TIMEOUT_MS = 90_000;
const POLL_MS = 40;

interface Stage {
  readonly plan: Plan;
  readonly chain: ScriptedChain;
  readonly nodes: readonly ChainNode[];
  readonly servers: SimulatedServers;
  readonly scratch: ScratchDatabase;
  start(): IngestProcess;
  ingest: IngestProcess;
  reorgs: number;
  /** How often the database broke. */
  breaks: number;
  kills: number;
  killsAtWork: number;
  /** What was there when the program that runs was started. */
  found: string;
}

export async function runSimulation(
  plan: Plan,
  servers: SimulatedServers,
  clock: Clock = systemClock,
  long?: LongRun,
): Promise<SimulationResult> {
  const started = clock.now();
  const chain = createScriptedChain({ seed: plan.seed, chainId: CHAIN_ID });
  chain.mine(plan.history);
  const nodes = await Promise.all(
    plan.upstreams.map((faults, index) => serveScriptedChain(chain, { faults, seed: plan.seed * 10 + index })),
  );
  const scratch = await servers.createDatabase();
  const fresh = await servers.createFresh();
  const honest = await serveScriptedChain(chain);
  if (!servers.isCluster) await cutPartitions(plan, scratch);
  const found = await readProgress(scratch.database);
  const environment = { ...environmentOf(plan, nodes, scratch), ...long?.settings };
  const start = (): IngestProcess => startIngest(environment, long?.roles);
  const ingest = start();
  const stage: Stage = {
    ...{ plan, chain, nodes, servers, scratch, start, ingest, found },
    ...{ reorgs: 0, breaks: 0, kills: 0, killsAtWork: 0 },
  };
  try {
    if (!isHitAtOnce(plan)) await untilAtWork(scratch.database, found, clock);
    await requestSubjects(scratch.database, chain);
    const finish = await long?.begin(chain, scratch, environment);
    for (const { afterMs, step } of plan.steps) {
      if (long?.signal.aborted) break;
      await clock.sleep(afterMs);
      await play(stage, step, clock);
    }
    // The last blocks must be above every branch that an upstream may still believe in.
    chain.mine(8);
    const unsettled = await settle(stage, clock);
    const problems = (await finish?.()) ?? [];
    await stage.ingest.kill();
    await servers.untilSettled(scratch.database);
    await requestSubjects(scratch.database, chain);
    await indexFresh({
      url: honest.url,
      database: fresh.database,
      startBlock: plan.startBlock,
      endBlock: chain.head,
    });
    await requestSubjects(fresh.database, chain);
    const rowsOf = (database: Database) => readTableRows(database, CHAIN_ID, simulatedDatasets());
    // Invariant: SYNC-PROJECTIONS-EQUAL
    const differences = compareTableRows(await rowsOf(scratch.database), await rowsOf(fresh.database));
    const stored = await countRows(scratch);
    const repairs = await scratch.database.query(sql`SELECT 1 FROM upstream_errors`);
    return {
      seed: plan.seed,
      blocks: chain.head - plan.startBlock + 1,
      ...stored,
      reorgs: stage.reorgs,
      kills: stage.kills,
      killsAtWork: stage.killsAtWork,
      repairs: repairs.length,
      seconds: (clock.now() - started) / 1000,
      failure: verdict(stage, [...(unsettled === null ? [] : [unsettled]), ...problems], differences, stored),
    };
  } finally {
    await stage.ingest.kill();
    await Promise.all([...nodes, honest].map((node) => node.close()));
    await scratch.drop();
    await fresh.drop();
  }
}

/** From the first time on, their derived state is maintained, whatever happens. Before the start of the program, none can be. */
async function requestSubjects(database: Database, chain: ScriptedChain): Promise<void> {
  const projections = createSubjectProjections(database);
  const wallets = chain.wallets.slice(0, ASKED_WALLETS);
  const collections = new Set(chain.expectedNftMoves().map(({ token }) => token));
  for (const of of subjectProjectionsOf(simulatedDatasets()))
    for (const subject of isOfContracts(of.state) ? collections : wallets)
      await waitingAtMost(KEEP_TIMEOUT_MS, () => projections.keep(simulatedChain(), of, subject));
}

function isOfContracts({ subjects }: SubjectProjection): boolean {
  return subjects.column === 'token_address';
}

const KEEP_TIMEOUT_MS = 30_000;
/** Each of them waits for commits, and commits for it. */
const ASKED_WALLETS = 60;

/** Every other story has a border between partitions each few blocks, which reorganisations, repairs and the backfill go over. */
async function cutPartitions({ seed }: Plan, { database }: ScratchDatabase): Promise<void> {
  if (seed % 2 === 0) return;
  const { id } = simulatedChain();
  const rowsPerPartition = 40 + (seed % 7) * 30;
  const wanted = simulatedDatasets().flatMap(({ table }) =>
    table.isPartitioned ? [{ table: { ...table, rowsPerPartition }, density: SEEN }] : [],
  );
  await ensurePartitions(database, id, [{ from: 0, to: CUT_BLOCKS }], wanted);
}

const CUT_BLOCKS = 400;
/** About as many transfers as the scripted chain has, two rows each. */
const SEEN = { rows: 1_000, blocks: 100 };

type Counts = Pick<SimulationResult, 'transfers' | 'nftMoves' | 'nftSales'>;

async function countRows({ database }: ScratchDatabase): Promise<Counts> {
  const [counted] = await database.query<Counts>(
    sql`SELECT (SELECT count(*)::int FROM erc20_transfer_sides WHERE direction <> 1) AS transfers,
            (SELECT count(*)::int FROM nft_transfers) AS "nftMoves",
            (SELECT count(*)::int FROM nft_trades) AS "nftSales"`,
  );
  return counted ?? { transfers: 0, nftMoves: 0, nftSales: 0 };
}

/** What the chain has, known from what its contracts meant. */
function expectedCounts({ plan, chain }: Stage): Counts {
  const range = { from: plan.startBlock, to: chain.head };
  return {
    transfers: chain.expectedTransfers(range).length,
    nftMoves: chain.expectedNftMoves(range).length,
    nftSales: chain.expectedNftSales(range).length,
  };
}

async function play(stage: Stage, step: Step, clock: Clock): Promise<void> {
  if (step.kind === 'mine') stage.chain.mine(step.blocks);
  else if (step.kind === 'reorg') {
    stage.chain.reorg(Math.min(step.depth, stage.chain.head - 1), step.blocks);
    stage.reorgs++;
  } else if (step.kind === 'kill') {
    await kill(stage, clock);
    stage.kills++;
  } else if (step.kind === 'break-database') await stage.servers.breakDatabase(stage.scratch, stage.breaks++);
}

/** In one of five stories things befall the program while it starts; in the others only once it has begun to write. */
function isHitAtOnce({ seed }: Plan): boolean {
  return seed % 5 === 4;
}

async function kill(stage: Stage, clock: Clock): Promise<void> {
  const { database } = stage.scratch;
  await untilKillIsHarmless(database, clock);
  await stage.ingest.kill();
  if ((await readProgress(database)) !== stage.found) stage.killsAtWork++;
  stage.found = await readProgress(database);
  stage.ingest = stage.start();
  if (!isHitAtOnce(stage.plan)) await untilAtWork(database, stage.found, clock);
}

/** Waits until the tip is indexed and nothing is uncovered (or unproven if it must be proven), or nothing moves. @returns the remaining ranges. */
async function settle({ plan, chain, scratch }: Stage, clock: Clock): Promise<string | null> {
  let [before, deadline] = ['', 0];
  for (;;) {
    const left = await whatIsLeft(plan, chain, scratch);
    if (left === null) return null;
    if (left !== before) [before, deadline] = [left, clock.now() + SETTLE_TIMEOUT_MS];
    if (clock.now() > deadline) return `No progress for ${SETTLE_TIMEOUT_MS / 1000} s: ${left}`;
    await clock.sleep(POLL_MS);
  }
}

async function whatIsLeft(plan: Plan, chain: ScriptedChain, scratch: ScratchDatabase): Promise<string | null> {
  const names = simulatedDatasets().map(({ name }) => name);
  const [row] = await scratch.database.query<{
    hash: string;
    checkpoint: number;
    covered: number;
    open: number;
    why: string | null;
  }>(
    sql`SELECT encode(checkpoint_hash, 'hex') AS hash, checkpoint, coalesce(stop_message, stall_reason) AS why,
            (SELECT coalesce(sum(last_block - first_block + 1), 0)::int FROM sync_ranges WHERE last_block >= ${plan.startBlock} AND dataset = ANY (${names}::text[])) AS covered,
            (SELECT count(*)::int FROM sync_ranges WHERE proof = 'none') AS open
       FROM sync_chains`,
  );
  if (row === undefined) return 'the chain has no state yet';
  const tip = chain.blockAt(chain.head)?.hash;
  if (`0x${row.hash}` !== tip)
    return `the checkpoint is ${row.checkpoint} of ${chain.head}: ${row.why ?? 'no reason given'}`;
  const wanted = (chain.head - plan.startBlock + 1) * names.length;
  // Invariant: SYNC-NO-GAP
  if (row.covered !== wanted)
    return `${row.covered} of ${wanted} blocks (times datasets) are covered: ${row.why ?? 'no reason given'}`;
  return plan.needsProof && row.open > 0 ? `${row.open} ranges are not proven yet` : null;
}

function verdict(
  stage: Stage,
  found: readonly string[],
  differences: readonly TableDifference[],
  stored: Counts,
): string | null {
  const problems = [...found];
  for (const { table, surplus, missing } of differences)
    problems.push(
      `${table} differs.\n  only here: ${surplus.join('\n             ')}\n  only in the fresh index: ${missing.join('\n             ')}`,
    );
  const expected = expectedCounts(stage);
  // Invariant: SYNC-NO-DUPLICATE
  if (stored.transfers !== expected.transfers)
    problems.push(`${stored.transfers} transfers are stored, the chain has ${expected.transfers}`);
  if (stored.nftMoves !== expected.nftMoves)
    problems.push(`${stored.nftMoves} moves of NFTs are stored, the chain has ${expected.nftMoves}`);
  if (stored.nftSales !== expected.nftSales)
    problems.push(`${stored.nftSales} sales of NFTs are stored, the chain has ${expected.nftSales}`);
  return problems.length === 0
    ? null
    : `${problems.join('\n')}\nOutput of the program:\n${stage.ingest.output()}`;
}

function environmentOf(
  plan: Plan,
  nodes: readonly ChainNode[],
  scratch: ScratchDatabase,
): Record<string, string> {
  return {
    DATABASE_URL: scratch.url,
    CHAINS: 'sim',
    CHAIN_ID_SIM: `${CHAIN_ID}`,
    MARKETPLACES_SIM: `${MARKETPLACE.protocol}:${MARKETPLACE.address}`,
    RPC_URLS_SIM: nodes.map((node) => node.url).join(','),
    START_BLOCK_SIM: `${plan.startBlock}`,
    POLL_INTERVAL_MS: '25',
    // Its transactions have no signatures.
    SWAPS_SIM: 'off',
    VERIFICATION_SIM: 'strict',
    BACKFILL_PROOF_SIM: plan.backfillProof,
    BACKFILL_ORDER: plan.backfillOrder,
    VERIFY_BLOCKS_PER_SECOND: '5000',
    LOG_LEVEL: 'info',
  };
}
