/** `npm run simulate -- --seed N` or `--seeds COUNT [--from N]`. Exits 1 when a seed fails, with the command that repeats it. */
import { parseArgs } from 'node:util';
import { startScratchServer } from '@chainstead/testkit';
import { planOf } from './plan.ts';
import { runSimulation, type SimulationResult } from './run-simulation.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '10' },
    from: { type: 'string', default: '1' },
    concurrency: { type: 'string', default: '2' },
  },
});

const seeds =
  values.seed === undefined
    ? Array.from({ length: Number(values.seeds) }, (_, index) => Number(values.from) + index)
    : [Number(values.seed)];
if (seeds.length === 0 || seeds.some((seed) => !Number.isSafeInteger(seed))) {
  console.error('--seed, --seeds and --from are whole numbers: npm run simulate -- --seeds 10 --from 1');
  process.exit(2);
}

const server = await startScratchServer();
const failed: SimulationResult[] = [];
const waiting = [...seeds];
const workers = Array.from({ length: Math.min(Number(values.concurrency), seeds.length) }, async () => {
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

function report(result: SimulationResult): void {
  const facts = `${result.blocks} blocks, ${result.transfers} transfers, ${result.nftMoves} NFT moves, ${result.nftSales} sales, ${result.reorgs} reorgs, ${result.kills} kills, ${result.repairs} repairs, ${result.seconds.toFixed(1)} s`;
  console.log(`seed ${result.seed}: ${result.failure === null ? 'equal' : 'FAILED'} (${facts})`);
  if (result.failure !== null) console.log(`${result.failure}\nRepeat with: npm run simulate -- --seed ${result.seed}`);
}
