import { rawSql, type Sql, sql } from '@chainstead/db';
import { BENCH_CREATION_EVENT, type BenchNodeOptions, type ScratchDatabase } from '@chainstead/testkit';
import { alternate } from './alternate.ts';
import type { BenchmarkContext, BenchmarkReport, Target } from './benchmark.ts';
import { BenchmarkError } from './benchmark-error.ts';
import { type BenchContract, readContents, runContract, type TableContents } from './contract-run.ts';
import { countPonderLines, PONDER_SCHEMA, type PonderPlan, type PonderRun, runPonder } from './ponder-project.ts';
import { withNode } from './with-node.ts';

/** A Ponder run that takes longer has no contents to compare. */
const PONDER_SECONDS_MAX = 900;
/** The project in `bench/ponder`. */
const PROJECT = 'contracts';
const CONFIGS = { plain: 'ponder.config.ts', factory: 'factory.config.ts' } as const;

export type ContractKind = keyof typeof CONFIGS;

export interface ContractCase {
  readonly name: string;
  /** The first token of the chain, or the children of its factory. */
  readonly kind: ContractKind;
  readonly blocks: number;
  /** Without depth of finality: the head does not move. */
  readonly chain: Partial<BenchNodeOptions>;
  readonly target?: Target;
  /** Number of the node's URLs that Ponder gets. @default 1 */
  readonly urls?: number;
}

/** Both sides index the same contract of the same node, and must have equal rows. */
export function compareContract(
  { server, runs, say }: BenchmarkContext,
  { name, kind, blocks, chain, target, urls = 1 }: ContractCase,
): Promise<BenchmarkReport> {
  return withNode(blocks, chain, async (node) => {
    const { facts } = node;
    const contract = contractOf(kind, facts);
    const plan = { server, node, blocks };
    const { first: ours, second: peer } = await alternate(
      runs,
      { name: `chainstead, ${name}`, run: () => runContract({ ...plan, contract }) },
      { name: `Ponder, ${name}`, run: () => runPeer({ ...plan, urls }, kind, contract) },
      say,
    );
    const different = findDifferent(ours, peer);
    const [config, schema, handlers] = await Promise.all(
      [[CONFIGS[kind]], ['ponder.schema.ts'], ['src', 'index.ts']].map((path) =>
        countPonderLines(PROJECT, ...path),
      ),
    );
    const lines = (config ?? 0) + (schema ?? 0) + (handlers ?? 0);
    const rate = ({ rows, seconds }: TableContents & { readonly seconds: number }): number => rows / seconds;
    const memory = ({ peakMemoryBytes }: { readonly peakMemoryBytes: number }): number => peakMemoryBytes / 1e6;
    const [sample] = ours;
    return {
      comparisons: [
        {
          ...{ name, unit: 'events/s', ...(target !== undefined && { target }) },
          ...{ ours: ours.map(rate), peer: peer.map(rate) },
        },
        { name: `${name}, peak memory`, unit: 'MB', ours: ours.map(memory), peer: peer.map(memory) },
        { name: `${name}, lines a user writes`, unit: 'lines', ours: [1], peer: [lines] },
      ],
      measures: [
        { name: `${name}, until complete`, unit: 's', samples: ours.map(({ seconds }) => seconds) },
        { name: `${name}, first row`, unit: 's', samples: ours.map(({ firstRowSeconds }) => firstRowSeconds) },
      ],
      notes: [
        `${name}: ${sample?.rows} rows (sum ${sample?.sum}, hash ${sample?.hash}) of ${facts.logs} logs, the same in all runs of Chainstead and in ${peer.length - different.length} of ${peer.length} of Ponder.`,
        ...different.map(({ rows }) => `${name}: Ponder said that it was complete with ${rows} rows.`),
        `${name}: Ponder took ${peer.map(({ seconds }) => seconds.toFixed(1)).join(', ')} s. Its lines: ${config} configuration, ${schema} schema, ${handlers} handlers.`,
      ],
    };
  });
}

function contractOf(
  kind: ContractKind,
  {
    tokens: [token],
    factory,
  }: { readonly tokens: readonly BenchContract['address'][]; readonly factory: BenchContract['address'] | null },
): BenchContract {
  const address = kind === 'plain' ? token : factory;
  if (address === undefined || address === null) throw new BenchmarkError(`The chain has no ${kind} contract`);
  return { address, creation: kind === 'plain' ? null : BENCH_CREATION_EVENT };
}

async function runPeer(
  plan: Omit<PonderPlan, 'seconds'>,
  kind: ContractKind,
  { address }: BenchContract,
): Promise<PonderRun & TableContents> {
  let contents: TableContents | undefined;
  const run = await runPonder({
    ...plan,
    seconds: PONDER_SECONDS_MAX,
    project: { folder: PROJECT, config: CONFIGS[kind], env: { BENCH_ADDRESS: address } },
    async inspect({ database }: ScratchDatabase) {
      contents = await readContents(database, peerRows(plan.blocks));
    },
  });
  if (!run.complete || contents === undefined)
    throw new BenchmarkError(`Ponder was not complete after ${PONDER_SECONDS_MAX} s`);
  return { ...run, ...contents };
}

function peerRows(blocks: number): Sql {
  return sql`SELECT block_number, log_index, block_time AS time, transaction_hash, transaction_index, contract,
  "from" AS sender, "to" AS receiver, value FROM ${rawSql(PONDER_SCHEMA)}.transfer WHERE block_number <= ${blocks}`;
}

/**
 * Returns runs of the peer with other rows than ours: it sometimes says that it is complete without the last block.
 * @throws BenchmarkError if our runs differ from each other, or from all of the peer's
 */
export function findDifferent(
  ours: readonly TableContents[],
  peer: readonly TableContents[],
): readonly TableContents[] {
  const textOf = ({ rows, sum, hash }: TableContents): string => `${rows} rows, sum ${sum}, hash ${hash}`;
  const texts = [...new Set(ours.map(textOf))];
  if (texts.length !== 1) throw new BenchmarkError(`Runs of Chainstead have different rows: ${texts.join('; ')}`);
  const different = peer.filter((run) => textOf(run) !== texts[0]);
  if (different.length === peer.length)
    throw new BenchmarkError(`Chainstead has ${texts[0]}, but Ponder ${different.map(textOf).join('; ')}`);
  return different;
}
