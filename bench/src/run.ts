/**
 * `npm run bench`: measures Chainstead against its peers, prints a table and writes JSON to bench/results/.
 * How the figures are made: docs/internals/benchmarks.md.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startScratchServer } from '@chainstead/testkit';
import { type Benchmark, type BenchmarkContext, FULL_SIZES, QUICK_SIZES } from './benchmark.ts';
import { BENCHMARKS } from './benchmarks.ts';
import { makePackage } from './chainstead-program.ts';
import { type BenchmarkResult, describeMachine, renderTable, toJson } from './results.ts';

const HELP = `npm run bench -- [options]

  --only <list>         only these: ${BENCHMARKS.map(({ name }) => name).join(', ')}
  --quick               small sizes, to see that everything works
  --runs <n>            runs of each side (default 3)
  --blocks <n>          blocks of the main chain (100 logs each)
  --rows <n>            rows of growth (default: 100,000,000, or 30,000,000 if the disk is too small) and of growth-contracts
                        (default: 20,000,000)
  --events <n>          events of contracts (default: 100,000)
  --share <part>        part of the public sizes in public (default: 1)
  --database-url <url>  another Postgres, whose user may create databases (default: an embedded one)`;

/** As on a server: nothing that a crash could lose is left out. */
const SERVER_SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_level: 'replica',
  max_wal_senders: '10',
  shared_buffers: '1GB',
  max_wal_size: '8GB',
  // Segments before a checkpoint are kept, to be used again (reusable-log.ts).
  min_wal_size: '2GB',
};

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    runs: { type: 'string', default: '3' },
    blocks: { type: 'string' },
    rows: { type: 'string' },
    events: { type: 'string' },
    share: { type: 'string' },
    'database-url': { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) console.log(HELP);
else process.exitCode = await main();

async function main(): Promise<number> {
  const chosen = choose(values.only);
  if (chosen === null) {
    console.error(HELP);
    return 2;
  }
  makePackage();
  const startedAt = new Date();
  const databaseUrl = values['database-url'];
  const server = await startScratchServer({
    settings: SERVER_SETTINGS,
    ...(databaseUrl === undefined ? {} : { url: databaseUrl }),
  });
  const sizes = values.quick ? QUICK_SIZES : FULL_SIZES;
  const context: BenchmarkContext = {
    server,
    sizes: {
      ...sizes,
      ...(values.blocks === undefined ? {} : { blocks: Number(values.blocks) }),
      ...(values.rows === undefined
        ? {}
        : { growthRows: Number(values.rows), contractRows: Number(values.rows) }),
      ...(values.share === undefined ? {} : { publicShare: Number(values.share) }),
      ...(values.events === undefined ? {} : { contractEvents: Number(values.events) }),
    },
    runs: Number(values.runs),
    say: (text) => console.error(text),
  };
  const results: BenchmarkResult[] = [];
  try {
    for (const benchmark of chosen) results.push(await measure(benchmark, context));
  } finally {
    await server.stop();
    if (results.length > 0) await publish(results, context, startedAt);
  }
  return 0;
}

function choose(only: string | undefined): readonly Benchmark[] | null {
  if (only === undefined) return BENCHMARKS;
  const names = only.split(',').map((name) => name.trim());
  const chosen = BENCHMARKS.filter(({ name }) => names.includes(name));
  return chosen.length === names.length ? chosen : null;
}

async function measure(benchmark: Benchmark, context: BenchmarkContext): Promise<BenchmarkResult> {
  context.say(`${benchmark.name}: ${benchmark.title}`);
  const before = performance.now();
  const report = await benchmark.run(context);
  const seconds = Math.round((performance.now() - before) / 1_000);
  return { benchmark: benchmark.name, title: benchmark.title, seconds, ...report };
}

async function publish(
  results: readonly BenchmarkResult[],
  { sizes, runs }: BenchmarkContext,
  startedAt: Date,
): Promise<void> {
  const machine = describeMachine();
  console.log(renderTable(results));
  for (const { benchmark, notes } of results) for (const note of notes) console.log(`${benchmark}: ${note}`);
  const folder = fileURLToPath(new URL('../results/', import.meta.url));
  await mkdir(folder, { recursive: true });
  const file = `${folder}${startedAt.toISOString().replaceAll(':', '-').slice(0, 19)}.json`;
  const document = { started_at: startedAt.toISOString(), machine, sizes, runs, results: results.map(toJson) };
  await writeFile(file, `${JSON.stringify(document, null, 2)}\n`);
  console.log(`\nWritten to ${file}`);
}
