/** `npm run soak -- --minutes 60`. Exits 0 when every verdict passed, 1 when one failed, 2 for a wrong option. */
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { errorText } from '@chainstead/core';
import { resultJson, resultText } from './report-text.ts';
import { runSoak, type SoakPlan } from './run-soak.ts';

const HELP = `npm run soak -- [options]

Starts the whole program beside a chain that grows, receivers of webhooks and readers of pages; finds the peak that it keeps
up with, holds a part of it, and judges whether memory, tables and latencies stay as they are and nothing is lost. A line for
each sample on standard output, everything in a JSON file. Nothing needs to be installed; the data lies in a temporary folder.

  --minutes <n>   how long the rate is held (default 60)
  --rate <n>      blocks a second to hold (default: measured first, which takes a minute)
  --share <n>     of the measured peak (default 0.8)
  --pages <n>     pages asked for a second (default 40)
  --wallets <n>   wallets that pages are of; each is asked about once before it begins (default 2000)
  --streams <n>   streams, each of a busy contract (default 10, at most 30)
  --block <n>     transactions of two logs in a block (default 50)
  --every <n>     seconds between samples (default 30, less in a short soak)
  --seed <n>      of the chain and the pages (default 1)
  --env KEY=VALUE more configuration of the program; may be repeated
  --report <file> where the JSON goes (default soak-results/<time>.json)

Ctrl-C ends it early: what there is by then is judged and reported. A second Ctrl-C ends it at once.
Exit code 0: every verdict passed. 1: one failed, or the soak could not run. 2: a wrong option.`;

const STREAMS_MAX = 30;
/** All that the chain has. */
const WALLETS_MAX = 50_000;
const SAMPLES_OF_SHORT = 20;

class OptionError extends Error {}

interface Command {
  readonly plan: SoakPlan;
  readonly file: string;
}

process.exitCode = await main();

async function main(): Promise<number> {
  try {
    const command = readCommand();
    if (command === null) {
      console.log(HELP);
      return 0;
    }
    return await soak(command);
  } catch (error) {
    if (error instanceof OptionError || (error instanceof TypeError && 'code' in error)) {
      console.error(`${error.message}\n\n${HELP}`);
      return 2;
    }
    console.error(errorText(error));
    return 1;
  }
}

async function soak({ plan, file }: Command): Promise<number> {
  const interrupt = new AbortController();
  const onSignal = (): void => {
    if (interrupt.signal.aborted) process.exit(1);
    interrupt.abort();
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, onSignal);
  const startedAt = new Date().toISOString();
  const load = loadavg();
  const result = await runSoak(plan, (text) => console.log(text), interrupt.signal);
  const machine = {
    processors: cpus().length,
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    load,
    node: process.version,
  };
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify({ startedAt, machine, plan, ...resultJson(result) }, null, 2)}\n`);
  console.log(`${resultText(result)}\nWritten to ${file}`);
  return result.verdicts.every(({ passed }) => passed !== false) ? 0 : 1;
}

/** @returns null when help is asked for. @throws OptionError */
function readCommand(): Command | null {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      minutes: text,
      rate: text,
      share: text,
      pages: text,
      wallets: text,
      streams: text,
      block: text,
      every: text,
      seed: text,
      env: { type: 'string', multiple: true },
      report: text,
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) return null;
  const minutes = number('minutes', values.minutes ?? '60', 0.1, 1_440);
  const stamp = new Date().toISOString().replaceAll(':', '-').slice(0, 19);
  return {
    plan: {
      minutes,
      blocksPerSecond: values.rate === undefined ? null : number('rate', values.rate, 0.1, 1_000),
      share: number('share', values.share ?? '0.8', 0.05, 1),
      pagesPerSecond: number('pages', values.pages ?? '40', 0, 5_000),
      wallets: Math.floor(number('wallets', values.wallets ?? '2000', 1, WALLETS_MAX)),
      streams: Math.floor(number('streams', values.streams ?? '10', 0, STREAMS_MAX)),
      transactionsPerBlock: Math.floor(number('block', values.block ?? '50', 1, 1_000)),
      sampleSeconds:
        values.every === undefined
          ? Math.min(30, (minutes * 60) / SAMPLES_OF_SHORT)
          : number('every', values.every, 1, 600),
      seed: Math.floor(number('seed', values.seed ?? '1', 0, 2 ** 31)),
      env: Object.fromEntries((values.env ?? []).map(readSetting)),
    },
    file: resolve(values.report ?? `soak-results/${stamp}.json`),
  };
}

function number(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= least && value <= most))
    throw new OptionError(`--${name} is a number from ${least} to ${most}, not ${text}`);
  return value;
}

function readSetting(text: string): [string, string] {
  const [, key, value] = /^([A-Z][A-Z0-9_]*)=(.*)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new OptionError(`--env is KEY=VALUE, not ${text}`);
  return [key, value];
}
