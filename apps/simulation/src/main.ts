/** `npm run simulate -- --seed N` or `--seeds COUNT [--from N]`. Exits 1 when a seed fails, with the command that repeats it. */
import { startScratchServer } from '@chainstead/testkit';
import { Command, InvalidArgumentError } from 'commander';
import { planOf } from './plan.ts';
import { runSimulation, type SimulationResult } from './run-simulation.ts';

const program = new Command('npm run simulate --')
  .description(
    'Runs the real program against a scripted chain with faults, reorganisations and kills, and compares its tables with a fresh index.',
  )
  .option('--seed <number>', 'only this run, the same every time', wholeNumber)
  .option('--seeds <count>', 'so many runs', wholeNumber, 10)
  .option('--from <number>', 'the first seed', wholeNumber, 1)
  .option('--concurrency <count>', 'runs side by side', wholeNumber, 2)
  .parse();
const { seed, ...given } = program.opts<{ seed?: number; seeds: number; from: number; concurrency: number }>();
const seeds = seed === undefined ? Array.from({ length: given.seeds }, (_, index) => given.from + index) : [seed];

const server = await startScratchServer();
const failed: SimulationResult[] = [];
const waiting = [...seeds];
const workers = Array.from({ length: Math.min(given.concurrency, seeds.length) }, async () => {
  for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
    const result = await runSimulation(planOf(seed), server);
    report(result);
    if (result.failure !== null) failed.push(result);
  }
});
try {
  await Promise.all(workers);
} finally {
  await server.stop();
}
console.log(`Simulation: ${seeds.length - failed.length} passed, ${failed.length} failed`);
process.exit(failed.length === 0 ? 0 : 1);

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new InvalidArgumentError('It is a whole number from 1.');
  return number;
}

function report(result: SimulationResult): void {
  const facts = `${result.blocks} blocks, ${result.transfers} transfers, ${result.nftMoves} NFT moves, ${result.nftSales} sales, ${result.reorgs} reorgs, ${result.kills} kills (${result.killsAtWork} at work), ${result.repairs} repairs, ${result.seconds.toFixed(1)} s`;
  console.log(`seed ${result.seed}: ${result.failure === null ? 'equal' : 'FAILED'} (${facts})`);
  if (result.failure !== null) console.log(`${result.failure}\nRepeat with: npm run simulate -- --seed ${result.seed}`);
}
