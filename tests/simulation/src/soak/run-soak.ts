/** A long run of the simulation with webhooks and pages: nothing may be lost, and memory and tables stay as they are. */
import { type Clock, systemClock } from '@chainstead/core';
import {
  createSeededRandom,
  freePort,
  type ScratchDatabase,
  type ScriptedChain,
  startWebhookReceiver,
} from '@chainstead/testkit';
import { type Plan, planOf, type Step, shallowReorg } from '../plan.ts';
import { type LongRun, runSimulation, type SimulationResult } from '../run-simulation.ts';
import { CHAIN_ID, CHAIN_KEY } from '../simulated-chain.ts';
import type { SimulatedServers } from '../simulated-servers.ts';
import { changeContract } from './changing-contract.ts';
import { addStreams, openSoakApi, pagesOf, readSecret, requestPages, SOAK_KEY } from './soak-api.ts';
import { judgeTrends, memoryInMetrics, readTables, type Sample, type Verdict } from './trends.ts';
import {
  type BlockWebhook,
  type ExpectedWebhooks,
  missingWebhooks,
  readWebhook,
  wrongWebhooks,
} from './webhooks.ts';

export interface SoakOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly blocksPerSecond: number;
  /** Seconds from one kill of the program to the next, while a contract is added and removed; null: none, and memory and tables are judged. */
  readonly killEvery: number | null;
  /** Ends the run early: what there is by then is judged. */
  readonly signal: AbortSignal;
  /** Takes a line for each sample. */
  report(line: string): void;
}

export interface SoakResult extends SimulationResult {
  readonly webhooks: number;
  readonly pages: number;
  readonly verdicts: readonly Verdict[];
}

const CONFIRMATIONS = 12;
/** Contracts that each have a stream. */
const STREAMS = 10;
const PAGE_EVERY_MS = 50;
const SAMPLE_EVERY_MS = 15_000;
const REORG_EVERY_SECONDS = 20;
const DRAIN_TIMEOUT_MS = 60_000;
const POLL_MS = 500;
/** Share of all webhooks. A program that is killed before it stores a response sends again. */
const REPEATED_SHARE_MAX = 0.04;
/** Pages that a killed program can't serve. */
const WHILE_IT_STARTS = /fetch failed|other side closed|: 503 /;

/** @throws Error if the program does not start, or a page fails before the run begins */
export async function runSoak(
  options: SoakOptions,
  servers: SimulatedServers,
  clock: Clock = systemClock,
): Promise<SoakResult> {
  await using parts = new AsyncDisposableStack();
  const { killEvery } = options;
  const webhooks: BlockWebhook[] = [];
  const verdicts: Verdict[] = [];
  const counted = { pages: 0 };
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const api = openSoakApi(address);

  async function begin(
    chain: ScriptedChain,
    { database }: ScratchDatabase,
    environment: Readonly<Record<string, string>>,
  ): ReturnType<LongRun['begin']> {
    await untilReady(address, clock);
    const secret = await readSecret(api);
    const receiver = await startWebhookReceiver({
      answer(webhook) {
        const read = readWebhook(webhook, secret);
        if (read !== null) webhooks.push(read);
        return {};
      },
    });
    parts.defer(() => receiver.close());
    const contracts = chain.tokens.slice(0, STREAMS).map((token) => token.address);
    const watched = await addStreams(api, { webhookUrl: receiver.url, chainId: CHAIN_ID }, contracts);
    const expected: ExpectedWebhooks = { chain, from: chain.head + 1, confirmations: CONFIRMATIONS, watched };
    const paths = pagesOf(chain, CHAIN_KEY);
    // The first request for a wallet counts its history, which is no part of a steady rate.
    for (const path of paths) await api.ask(path);
    const pages = requestPages(api, paths, createSeededRandom(`pages/${options.seed}`), PAGE_EVERY_MS);
    parts.defer(() => pages.stop());
    const samples: Sample[] = [];
    const started = clock.now();
    const stopped = new AbortController();
    parts.defer(async () => stopped.abort());
    const contract = killEvery === null ? null : await changeContract(chain, database, environment, clock);
    const sampling = sampleEvery(async () => {
      const metrics = await fetch(`${address}/metrics`).then(
        (response) => response.text(),
        (error: unknown) => {
          if (killEvery === null) throw error;
          return '';
        },
      );
      const seconds = (clock.now() - started) / 1_000;
      samples.push({ seconds, memory: memoryInMetrics(metrics), tables: await readTables(database) });
      const memory = [...memoryInMetrics(metrics)].map(
        ([role, bytes]) => `${role} ${(bytes / 1_048_576).toFixed(0)}`,
      );
      options.report(
        `${seconds.toFixed(0)} s: block ${chain.head}, ${webhooks.length} webhooks, ${pages.answered} pages (${pages.failures.length} failed), MB ${memory.join(' ')}`,
      );
    }, stopped.signal);
    // Awaited at the end: a sample that fails ends the soak, not the process.
    sampling.catch(() => undefined);
    return async () => {
      const faults = (await contract?.finish()) ?? [];
      stopped.abort();
      await sampling;
      await pages.stop();
      counted.pages = pages.answered;
      const missing = await drain(webhooks, expected, clock);
      const { wrong, repeated } = wrongWebhooks(webhooks, expected);
      const failures = pages.failures.filter((text) => killEvery === null || !WHILE_IT_STARTS.test(text));
      verdicts.push(
        ...(killEvery === null ? judgeTrends(samples) : []),
        noneOf('webhooks lost', missing),
        noneOf(
          'wrong webhooks',
          [...wrong].map(([name, count]) => `${count} ${name}`),
        ),
        {
          text: `webhooks sent twice: ${repeated} of ${webhooks.length}`,
          passed: repeated <= (killEvery === null ? 0 : REPEATED_SHARE_MAX * webhooks.length),
        },
        noneOf('pages failed', failures),
      );
      if (contract !== null) verdicts.push(noneOf(`faults of a contract added ${contract.added} times`, faults));
      return verdicts.filter(({ passed }) => passed === false).map(({ text }) => text);
    };
  }

  const result = await runSimulation(soakPlan(options), servers, clock, {
    roles: 'api,ingest,worker',
    settings: {
      PORT: String(port),
      API_KEYS: SOAK_KEY,
      [`CONFIRMATIONS_${CHAIN_KEY.toUpperCase()}`]: String(CONFIRMATIONS),
      WEBHOOK_ALLOW_PRIVATE: '127.0.0.1/32',
      ON_DEMAND_WAIT_MS: '5000',
      LOG_LEVEL: 'warn',
    },
    signal: options.signal,
    begin,
  });
  return { ...result, webhooks: webhooks.length, pages: counted.pages, verdicts };
}

/** Faults of upstreams as in a short run, blocks at a fixed rate, and reorganisations. Without kills, memory has to grow if it can. */
function soakPlan({ seed, minutes, blocksPerSecond, killEvery }: SoakOptions): Plan {
  const random = createSeededRandom(`soak/${seed}`);
  const oncePer = (seconds: number): boolean => random.chance(1 / (seconds * blocksPerSecond));
  const stepOf = (): Step => {
    if (oncePer(REORG_EVERY_SECONDS)) return shallowReorg(random);
    if (killEvery !== null && oncePer(killEvery)) return { kind: 'kill' };
    return { kind: 'mine', blocks: 1 };
  };
  const steps = Array.from({ length: Math.ceil(minutes * 60 * blocksPerSecond) }, () => ({
    afterMs: 1_000 / blocksPerSecond,
    step: stepOf(),
  }));
  // Pages request histories of wallets, whose rows would also be below a later start.
  return { ...planOf(seed), startBlock: 1, steps };
}

async function untilReady(address: string, clock: Clock): Promise<void> {
  for (const deadline = clock.now() + DRAIN_TIMEOUT_MS; ; await clock.sleep(POLL_MS))
    try {
      const { status } = await fetch(`${address}/ready`);
      if (status === 200) return;
      throw new Error(`/ready: ${status}`);
    } catch (error) {
      if (clock.now() > deadline) throw error;
    }
}

async function sampleEvery(sample: () => Promise<void>, stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) {
    await sample();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, SAMPLE_EVERY_MS);
    stopped.addEventListener('abort', () => resolve());
    await promise;
    clearTimeout(timer);
  }
}

/** Waits for pending webhooks. @returns the missing ones */
async function drain(
  webhooks: readonly BlockWebhook[],
  expected: ExpectedWebhooks,
  clock: Clock,
): Promise<readonly string[]> {
  for (const deadline = clock.now() + DRAIN_TIMEOUT_MS; ; await clock.sleep(POLL_MS)) {
    const missing = missingWebhooks(webhooks, expected);
    if (missing.length === 0 || clock.now() > deadline) return missing;
  }
}

const EXAMPLES = 3;

function noneOf(name: string, found: readonly string[]): Verdict {
  const examples = found.slice(0, EXAMPLES).join('; ');
  return {
    text: `${name}: ${found.length}${examples === '' ? '' : ` (${examples})`}`,
    passed: found.length === 0,
  };
}
