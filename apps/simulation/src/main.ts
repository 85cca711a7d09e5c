/** `npm run simulate -- --seed N` or `--seeds COUNT [--from N]`, of a story. Exits 1 when a seed fails, with the command that repeats it. */
import { findCitus, startScratchServer } from '@chainstead/testkit';
import { Command, InvalidArgumentError, Option } from 'commander';
import { planActivity } from './activity/plan.ts';
import { runActivity } from './activity/run-activity.ts';
import { planAssets } from './assets/plan.ts';
import { runAssets } from './assets/run-assets.ts';
import { planOf } from './plan.ts';
import { runSimulation } from './run-simulation.ts';
import { clusterOf, oneServer } from './simulated-servers.ts';
import type { StoryResult } from './story/run-story.ts';

/** A run in words, and what is wrong with it. */
interface Run {
  readonly facts: string;
  readonly failure: string | null;
  /** Options besides the seed that repeat it. */
  readonly options: string;
}

const ACTIONS_DEFAULT = 10_000;

const program = new Command('npm run simulate --')
  .description(
    'Runs the real program against a scripted chain with faults, reorganisations and kills, and compares its tables with a fresh index; or against a real node where assets are minted, moved and burned, or transactions of all types are made, and compares its answers with what the node says.',
  )
  .addOption(
    new Option(
      '--story <name>',
      'what happens: blocks of a scripted chain; assets, or transactions of all types, on a real node',
    )
      .choices(['blocks', 'assets', 'activity'] as const)
      .default('blocks'),
  )
  .addOption(
    new Option(
      '--on <servers>',
      'where the database of a story of blocks is: a cluster of Citus has three servers, which die',
    )
      .choices(['server', 'cluster'] as const)
      .default('server'),
  )
  .option('--seed <number>', 'only this run, the same every time', wholeNumber)
  .option('--seeds <count>', 'so many runs', wholeNumber, 10)
  .option('--from <number>', 'the first seed', wholeNumber, 1)
  .option('--actions <count>', 'of a story on a real node', wholeNumber, ACTIONS_DEFAULT)
  .option('--concurrency <count>', 'runs side by side', wholeNumber, 2)
  .parse();
const { seed, ...given } = program.opts<{
  story: 'blocks' | 'assets' | 'activity';
  on: 'server' | 'cluster';
  seed?: number;
  seeds: number;
  from: number;
  actions: number;
  concurrency: number;
}>();
const seeds = seed === undefined ? Array.from({ length: given.seeds }, (_, index) => given.from + index) : [seed];
const runSeed = {
  blocks: runBlocks,
  assets: (of: number) => toRun(runAssets(planAssets(of, given.actions), server)),
  activity: (of: number) => toRun(runActivity(planActivity(of, given.actions), server)),
}[given.story];

const server = await startScratchServer({ settings: { max_connections: '300' } });
const cluster = given.on === 'cluster' ? await (await findCitus('the simulation'))?.createCluster() : undefined;
if (given.on === 'cluster' && cluster === undefined) {
  await server.stop();
  process.exit(1);
}
const servers = cluster === undefined ? oneServer(server) : clusterOf(cluster, server);
// A server that dies would be every story's.
const sideBySide = cluster === undefined ? given.concurrency : 1;
let failed = 0;
const waiting = [...seeds];
const workers = Array.from({ length: Math.min(sideBySide, seeds.length) }, async () => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const run = await runSeed(next);
    report(next, run);
    if (run.failure !== null) failed++;
  }
});
try {
  await Promise.all(workers);
} finally {
  await cluster?.remove();
  await server.stop();
}
console.log(`Simulation: ${seeds.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new InvalidArgumentError('It is a whole number from 1.');
  return number;
}

async function runBlocks(of: number): Promise<Run> {
  const result = await runSimulation(planOf(of), servers);
  return {
    facts: `${result.blocks} blocks, ${result.transfers} transfers, ${result.nftMoves} NFT moves, ${result.nftSales} sales, ${result.reorgs} reorgs, ${result.kills} kills (${result.killsAtWork} at work), ${result.repairs} repairs, ${result.seconds.toFixed(1)} s`,
    failure: result.failure,
    options: given.on === 'cluster' ? ' --on cluster' : '',
  };
}

async function toRun(played: Promise<StoryResult>): Promise<Run> {
  const result = await played;
  return {
    facts: `${result.actions} actions in ${result.blocks} blocks, ${result.reorgs} reorgs, ${result.kills} kills, ${result.questions} questions, ${result.comparisons} comparisons, ${result.seconds.toFixed(1)} s`,
    failure: result.failure,
    options: ` --story ${given.story} --actions ${given.actions}`,
  };
}

function report(of: number, { facts, failure, options }: Run): void {
  console.log(`seed ${of}: ${failure === null ? 'equal' : 'FAILED'} (${facts})`);
  if (failure !== null) console.log(`${failure}\nRepeat with: npm run simulate -- --seed ${of}${options}`);
}
