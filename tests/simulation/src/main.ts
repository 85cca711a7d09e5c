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
import { runSoak } from './soak/run-soak.ts';
import type { StoryResult } from './story/run-story.ts';

/** A run in words, and what is wrong with it. */
interface Run {
  readonly facts: string;
  readonly failure: string | null;
  /** Options in addition to the seed that repeat it. */
  readonly options: string;
}

const ACTIONS_DEFAULT = 10_000;

const program = new Command('npm run simulate --')
  .description(
    'Run the real program against a scripted chain with faults, reorgs and kills, and compare its tables with a fresh index. Other stories run against a real node with assets or all transaction types, and compare the responses with the node.',
  )
  .addOption(
    new Option(
      '--story <name>',
      'what happens: blocks of a scripted chain; a soak of the whole program on one; assets, or transactions of all types, on a real node',
    )
      .choices(['blocks', 'soak', 'assets', 'activity'] as const)
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
  .option('--minutes <count>', 'of a soak', wholeNumber, 20)
  .option('--rate <count>', 'blocks a second in a soak', wholeNumber, 5)
  .option('--kill-every <seconds>', 'of a soak: kill the program, and add and remove a contract', wholeNumber)
  .option('--concurrency <count>', 'runs side by side', wholeNumber, 2)
  .parse();
const { seed, ...given } = program.opts<{
  story: 'blocks' | 'soak' | 'assets' | 'activity';
  on: 'server' | 'cluster';
  seed?: number;
  seeds: number;
  from: number;
  actions: number;
  minutes: number;
  rate: number;
  killEvery?: number;
  concurrency: number;
}>();
// A soak is one run by default.
const count = given.story === 'soak' && program.getOptionValueSource('seeds') === 'default' ? 1 : given.seeds;
const seeds = seed === undefined ? Array.from({ length: count }, (_, index) => given.from + index) : [seed];
const runSeed = {
  blocks: runBlocks,
  soak: soakOnce,
  assets: (of: number) => toRun(runAssets(planAssets(of, given.actions), server)),
  activity: (of: number) => toRun(runActivity(planActivity(of, given.actions), server)),
}[given.story];

const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());
// A soak and stories of many actions may outgrow the memory.
const server = await startScratchServer({
  settings: { max_connections: '300' },
  isInMemory: given.story === 'blocks',
});
const cluster = given.on === 'cluster' ? await (await findCitus('the simulation'))?.createCluster() : undefined;
if (given.on === 'cluster' && cluster === undefined) {
  await server.stop();
  process.exit(1);
}
const servers = cluster === undefined ? oneServer(server) : clusterOf(cluster, server);
// A server that dies would be every story's.
const sideBySide = cluster === undefined ? given.concurrency : 1;
let [passed, failed] = [0, 0];
const waiting = [...seeds];
const workers = Array.from({ length: Math.min(sideBySide, seeds.length) }, async () => {
  for (let next = waiting.shift(); next !== undefined && !interrupt.signal.aborted; next = waiting.shift()) {
    const run = await runSeed(next);
    report(next, run);
    if (run.failure === null) passed++;
    else failed++;
  }
});
try {
  await Promise.all(workers);
} finally {
  await cluster?.remove();
  await server.stop();
}
console.log(`Simulation: ${passed} passed, ${failed} failed`);
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

async function soakOnce(of: number): Promise<Run> {
  const { signal } = interrupt;
  const { minutes, rate, killEvery } = given;
  const result = await runSoak(
    { seed: of, minutes, blocksPerSecond: rate, killEvery: killEvery ?? null, signal, report: console.log },
    servers,
  );
  for (const { text, passed } of result.verdicts)
    console.log(`${passed === null ? 'not judged' : passed ? 'ok' : 'FAILED'} ${text}`);
  return {
    facts: `${result.blocks} blocks, ${result.transfers} transfers, ${result.reorgs} reorgs, ${result.kills} kills, ${result.webhooks} webhooks, ${result.pages} pages, ${result.seconds.toFixed(0)} s`,
    failure: result.failure,
    options: ` --story soak --minutes ${minutes} --rate ${rate}${killEvery === undefined ? '' : ` --kill-every ${killEvery}`}`,
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
