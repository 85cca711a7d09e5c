import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@chainstead/testkit';
import type { Benchmark, BenchmarkReport } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { type MeasuredProcess, startProcess } from '../measured-process.ts';
import { nodeProcesses, processorSeconds, sharedMemory } from '../process-tree.ts';
import { withNode } from '../with-node.ts';

/** The command of a clone, not the package. */
const COMMAND = fileURLToPath(new URL('../../../apps/chainstead/bin/chainstead.js', import.meta.url));
const BLOCKS = 100;
const LOOK_MS = 10;
/** Until a chain is followed, and until the demo has made its first minute of traffic. */
const QUIET_MS = { start: 30_000, demo: 100_000 };
/** Two rounds of the demo's quiet traffic. */
const IDLE_MS = 60_000;

interface Figures {
  readonly readySeconds: number;
  readonly processorSeconds: number;
  readonly idleMb: number;
  readonly idlePercent: number;
  /** Duration of two commands next to the program. */
  readonly listSeconds: number;
  readonly helpSeconds: number;
}

/** Time, processor time and memory of a clone's commands. */
export const start: Benchmark = {
  name: 'start',
  title: 'Start of a clone: time to /ready, processor time and memory of its Node processes, short commands',
  run: ({ runs, say }) =>
    withNode(BLOCKS, {}, async (node) => {
      const folder = await mkdtemp(join(tmpdir(), 'chainstead-bench-start-'));
      const env = { DATA_DIR: folder, CHAINS: 'eth', RPC_URLS_ETH: node.url, START_BLOCK_ETH: 'head' };
      try {
        say('  first start: database, bundle and compile cache');
        await runProgram('start', env);
        const started: Figures[] = [];
        const demos: Figures[] = [];
        for (let run = 0; run < runs; run++) {
          say(`  run ${run + 1} of ${runs}`);
          started.push(await runProgram('start', env));
          demos.push(await runProgram('demo', {}));
        }
        return report(started, demos);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }),
};

async function runProgram(command: 'start' | 'demo', given: Readonly<Record<string, string>>): Promise<Figures> {
  const port = String(await freePort());
  const env = { ...given, PORT: port, LOG_LEVEL: 'error' };
  const program = startProcess({ args: [COMMAND, command], env });
  const processorTime = (): number => processorSeconds(nodeProcesses(program.pid));
  try {
    await untilReady(`http://127.0.0.1:${port}/ready`, program);
    const readySeconds = program.elapsedMs() / 1_000;
    const untilReadySeconds = processorTime();
    await sleep(QUIET_MS[command]);
    const before = processorTime();
    await sleep(IDLE_MS);
    return {
      readySeconds,
      processorSeconds: untilReadySeconds,
      idlePercent: (100 * (processorTime() - before)) / (IDLE_MS / 1_000),
      idleMb: sharedMemory(nodeProcesses(program.pid)) / 1e6,
      listSeconds: await secondsOf(['contracts', 'list'], env),
      helpSeconds: await secondsOf(['status', '--help'], env),
    };
  } finally {
    await program.stop();
  }
}

async function secondsOf(args: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const command = startProcess({ args: [COMMAND, ...args], env });
  await command.finished();
  return command.elapsedMs() / 1_000;
}

async function untilReady(url: string, program: MeasuredProcess): Promise<void> {
  let failure: unknown = null;
  void program.finished().then(
    () => {
      failure = new BenchmarkError('The program ended before it was ready');
    },
    (error: unknown) => {
      failure = error;
    },
  );
  const isReady = (): Promise<boolean> =>
    fetch(url).then(
      ({ ok }) => ok,
      // Nothing listens yet.
      () => false,
    );
  while (!(await isReady())) {
    if (failure !== null) throw failure;
    await sleep(LOOK_MS);
  }
}

function report(started: readonly Figures[], demos: readonly Figures[]): BenchmarkReport {
  const measure = (
    [name, unit, figure, atMost]: readonly [string, string, keyof Figures, number?],
    samples: readonly Figures[],
  ): BenchmarkReport['measures'][number] => ({
    name,
    unit,
    samples: samples.map((sample) => sample[figure]),
    ...(atMost !== undefined && { target: { atMost } }),
  });
  return {
    comparisons: [],
    measures: [
      measure(['/ready after start', 's', 'readySeconds', 4], started),
      measure(['processor time of start until /ready', 's', 'processorSeconds', 4], started),
      measure(['memory with one chain, idle', 'MB', 'idleMb', 450], started),
      measure(['contracts list', 's', 'listSeconds', 0.4], started),
      measure(['status --help', 's', 'helpSeconds', 0.4], started),
      measure(['/ready after demo', 's', 'readySeconds'], demos),
      measure(['processor time of demo until /ready', 's', 'processorSeconds'], demos),
      measure(['memory of the demo, idle', 'MB', 'idleMb', 600], demos),
      measure(['processor time of the idle demo', '% of a core', 'idlePercent', 3], demos),
    ],
    notes: ['Memory and processor time are those of Node processes, without Postgres and the local node.'],
  };
}
