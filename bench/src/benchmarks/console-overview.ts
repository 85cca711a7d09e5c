import { setTimeout as sleep } from 'node:timers/promises';
import { findChromium, type ScratchDatabase } from '@chainstead/testkit';
import { type Browser, chromium, type Page } from 'playwright-core';
import { addressOf } from '../api-servers.ts';
import type { Benchmark } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { startChainstead } from '../chainstead-program.ts';
import { addFollowedChains } from '../console-chains.ts';
import { median } from '../statistics.ts';
import { addStreams, streamId } from '../stream-rows.ts';

const CHAINS = 40;
const STREAMS = 1_000;
/** Of a run, behind its first. */
const LATER_LOADS = 5;
/** What the page shows is read anew after a second: each load has it read. */
const BETWEEN_LOADS_MS = 1_200;
const PAINT_MS_MAX = 300;

const FIRST_PAINT = `new Promise((resolve) => {
  new PerformanceObserver((list, observer) => {
    for (const { name, startTime } of list.getEntries())
      if (name === 'first-contentful-paint') {
        observer.disconnect();
        resolve(startTime);
      }
  }).observe({ type: 'paint', buffered: true });
})`;

interface Paints {
  /** Of a process that has just started, in a browser that has no script and style yet. */
  readonly first: number;
  readonly later: number;
}

/** How long a reader waits for the overview of many chains. */
export const consoleOverview: Benchmark = {
  name: 'console-overview',
  title: `First contentful paint of the console's overview, ${CHAINS} chains with a day of samples and ${STREAMS} streams`,
  async run({ server, runs, say }) {
    const executablePath = findChromium();
    if (executablePath === undefined) throw new BenchmarkError('This benchmark needs chromium on the PATH');
    const scratch = await server.createDatabase();
    // Chromium's own sandbox needs a user that is not root.
    const browser = await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
    try {
      await addFollowedChains(scratch.database, CHAINS);
      const streams = Array.from({ length: STREAMS }, (_, number) => streamId(number));
      await addStreams(
        scratch,
        streams.map((id) => ({ id, webhookUrl: 'https://receiver.example/' })),
      );
      const key = await makeAdminKey(scratch);
      const paints: Paints[] = [];
      for (let run = 0; run < runs; run++) {
        paints.push(await measurePaints(scratch, browser, key));
        say(`  run ${run + 1}: ${JSON.stringify(paints.at(-1))}`);
      }
      const unit = 'ms';
      const target = { atMost: PAINT_MS_MAX };
      return {
        comparisons: [],
        measures: [
          { name: 'first contentful paint', unit, samples: paints.map(({ later }) => later), target },
          { name: 'of a new process, in a new browser', unit, samples: paints.map(({ first }) => first), target },
        ],
        notes: [
          `From the beginning of the navigation, as Chromium reports it. Each later figure is the median of ${LATER_LOADS} loads that find nothing that is younger than a second.`,
        ],
      };
    } finally {
      await browser.close();
      await scratch.drop();
    }
  },
};

async function makeAdminKey({ url }: ScratchDatabase): Promise<string> {
  const program = startChainstead(['keys', 'create', '--name', 'benchmark', '--scope', 'admin'], placeOf(url));
  const key = await program.line((line) => /^[0-9a-f]{32}$/.exec(line)?.[0]);
  await program.finished();
  return key;
}

function placeOf(databaseUrl: string) {
  return { databaseUrl, rpcUrls: ['http://127.0.0.1:9'], env: { PORT: '0' } };
}

async function measurePaints({ url }: ScratchDatabase, browser: Browser, key: string): Promise<Paints> {
  const program = startChainstead(['start', '--roles', 'api'], placeOf(url));
  try {
    const context = await browser.newContext({ baseURL: await addressOf(program) });
    const page = await context.newPage();
    await page.goto('/console/sign-in?to=/console/sessions');
    await page.getByLabel('Key with the scope').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/console/sessions');
    const cookies = await context.cookies();
    await context.close();
    const fresh = await browser.newContext({ baseURL: await addressOf(program) });
    await fresh.addCookies(cookies);
    const overview = await fresh.newPage();
    const first = await paintOf(overview);
    const later: number[] = [];
    for (let load = 0; load < LATER_LOADS; load++) {
      await sleep(BETWEEN_LOADS_MS);
      later.push(await paintOf(overview));
    }
    await fresh.close();
    return { first, later: median(later) };
  } finally {
    await program.stop();
  }
}

/** Loads the overview. @returns milliseconds until something of it was to be seen */
async function paintOf(page: Page): Promise<number> {
  // Its live part would have the server read on between the loads.
  await page.goto('about:blank');
  await page.goto('/console', { waitUntil: 'domcontentloaded' });
  if ((await page.locator('article').count()) < CHAINS) throw new BenchmarkError('The overview lacks chains');
  return page.evaluate<number>(FIRST_PAINT);
}
