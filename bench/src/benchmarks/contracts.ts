import { rawSql, type Sql, sql } from '@chainstead/db';
import { BENCH_CREATION_EVENT, type BenchNodeOptions, type ScratchDatabase } from '@chainstead/testkit';
import { alternate } from '../alternate.ts';
import type { Benchmark, BenchmarkContext, BenchmarkReport } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { type BenchContract, readContents, runContract, type TableContents } from '../contract-run.ts';
import { countPonderLines, installPonder, PONDER_SCHEMA, type PonderRun, runPonder } from '../ponder-project.ts';
import { withNode } from '../with-node.ts';

const LOGS_PER_BLOCK = 100;
/** For each contract that emits the same event and is no child. */
const CHILDREN_PER_STRANGER = 5;
/** With a factory, the chain is longer: not all of its events are those of children. */
const EVENTS_OF_CHILDREN = 0.83;
const FASTER_AT_LEAST = 5;
/** A Ponder run that takes longer has no contents to compare. */
const PONDER_SECONDS_MAX = 900;
/** The project in `bench/ponder`. */
const PROJECT = 'contracts';
const CONFIGS = { plain: 'ponder.config.ts', factory: 'factory.config.ts' } as const;

type Kind = keyof typeof CONFIGS;

/** Own contracts against Ponder: the same contract on the same node, and equal tables in the end. */
export const contracts: Benchmark = {
  name: 'contracts',
  title: 'Events of a contract, and of the children of a factory, against Ponder',
  async run(context) {
    const version = await installPonder(context.say);
    const reports = [await compare(context, 'plain'), await compare(context, 'factory')];
    return {
      comparisons: reports.flatMap(({ comparisons }) => comparisons),
      measures: reports.flatMap(({ measures }) => measures),
      notes: [
        `Ponder ${version}, without its start-up. Chainstead runs; its time includes the command contracts add.`,
        ...reports.flatMap(({ notes }) => notes),
      ],
    };
  },
};

function compare({ server, sizes, runs, say }: BenchmarkContext, kind: Kind): Promise<BenchmarkReport> {
  const share = kind === 'plain' ? 1 : EVENTS_OF_CHILDREN;
  const blocks = Math.ceil(sizes.contractEvents / LOGS_PER_BLOCK / share);
  return withNode(blocks, chainOf(kind, sizes.contractChildren), async (node) => {
    const { facts } = node;
    const contract = contractOf(kind, facts);
    const plan = { server, node, blocks };
    const { first: ours, second: peer } = await alternate(
      runs,
      { name: `chainstead, ${kind}`, run: () => runContract({ ...plan, contract }) },
      { name: `Ponder, ${kind}`, run: () => runPeer(plan, kind, contract) },
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
          ...{ name: kind, unit: 'events/s', target: { atLeast: FASTER_AT_LEAST } },
          ...{ ours: ours.map(rate), peer: peer.map(rate) },
        },
        { name: `${kind}, peak memory`, unit: 'MB', ours: ours.map(memory), peer: peer.map(memory) },
        { name: `${kind}, lines a user writes`, unit: 'lines', ours: [1], peer: [lines] },
      ],
      measures: [
        { name: `${kind}, until complete`, unit: 's', samples: ours.map(({ seconds }) => seconds) },
        { name: `${kind}, first row`, unit: 's', samples: ours.map(({ firstRowSeconds }) => firstRowSeconds) },
      ],
      notes: [
        `${kind}: ${sample?.rows} rows (sum ${sample?.sum}, hash ${sample?.hash}) of ${facts.logs} logs, the same in all runs of Chainstead and in ${peer.length - different.length} of ${peer.length} of Ponder.`,
        ...different.map(({ rows }) => `${kind}: Ponder said that it was complete with ${rows} rows.`),
        `${kind}: Ponder took ${peer.map(({ seconds }) => seconds.toFixed(1)).join(', ')} s. Its lines: ${config} configuration, ${schema} schema, ${handlers} handlers.`,
      ],
    };
  });
}

/** Without depth of finality: the head does not move, so blocks above the final one would never be filled in. */
function chainOf(kind: Kind, children: number): Partial<BenchNodeOptions> {
  const options = { finalityDepth: 0, transferShare: 1 };
  return kind === 'plain'
    ? { ...options, tokens: 1 }
    : { ...options, children, tokens: Math.ceil(children / CHILDREN_PER_STRANGER) };
}

function contractOf(
  kind: Kind,
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
  plan: Omit<Parameters<typeof runPonder>[0], 'urls' | 'seconds'>,
  kind: Kind,
  { address }: BenchContract,
): Promise<PonderRun & TableContents> {
  let contents: TableContents | undefined;
  const run = await runPonder({
    ...plan,
    ...{ urls: 1, seconds: PONDER_SECONDS_MAX },
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
function findDifferent(ours: readonly TableContents[], peer: readonly TableContents[]): readonly TableContents[] {
  const textOf = ({ rows, sum, hash }: TableContents): string => `${rows} rows, sum ${sum}, hash ${hash}`;
  const texts = [...new Set(ours.map(textOf))];
  if (texts.length !== 1) throw new BenchmarkError(`Runs of Chainstead have different rows: ${texts.join('; ')}`);
  const different = peer.filter((run) => textOf(run) !== texts[0]);
  if (different.length === peer.length)
    throw new BenchmarkError(`Chainstead has ${texts[0]}, but Ponder ${different.map(textOf).join('; ')}`);
  return different;
}
