import { API_KEY } from './api-servers.ts';
import type { BenchmarkContext, Comparison } from './benchmark.ts';
import { startChainstead } from './chainstead-program.ts';
import { compareLatency } from './compare-latency.ts';
import type { MeasuredProcess } from './measured-process.ts';
import { PAGE_SIZE, timePage } from './wallet-page.ts';

const PROCESSES = '2';
/** Requests a second: far from what one client asks, and so near that processes tell each other more often than they would by themselves. */
const LIMITS = [
  { name: 'a limit', rateLimit: 1_000_000 },
  { name: 'a limit of 1,000 a second', rateLimit: 1_000 },
];
/** Functions that answer are compiled after some hundred requests. */
const WARM_UP_REQUESTS = 200;

/** Pages of a program whose two API processes count a key's requests together, beside one without a limit. @param path of the page */
export async function compareLimits(
  context: BenchmarkContext,
  databaseUrl: string,
  path: string,
): Promise<Comparison[]> {
  const programs = [0, ...LIMITS.map(({ rateLimit }) => rateLimit)].map((rateLimit) =>
    startApi(databaseUrl, rateLimit),
  );
  try {
    const [free = '', ...limited] = await Promise.all(programs.map(addressOfStart));
    const page = (url: string) => () => timePage(`${url}${path}`, PAGE_SIZE);
    for (const url of [free, ...limited])
      for (let request = 0; request < WARM_UP_REQUESTS; request += 1) await page(url)();
    const comparisons: Comparison[] = [];
    for (const [place, { name }] of LIMITS.entries())
      comparisons.push(
        await compareLatency(
          context,
          `page with ${name} beside one without`,
          page(limited[place] ?? ''),
          page(free),
          null,
        ),
      );
    return comparisons;
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
  }
}

function startApi(databaseUrl: string, rateLimit: number): MeasuredProcess {
  return startChainstead(['start', '--roles', 'api'], {
    databaseUrl,
    rpcUrls: ['http://127.0.0.1:9'],
    env: { PORT: '0', API_KEYS: API_KEY, API_PROCESSES: PROCESSES, RATE_LIMIT: String(rateLimit) },
  });
}

/** Where a start of several processes says that they listen. */
function addressOfStart(program: MeasuredProcess): Promise<string> {
  return program.line((line) => /API {7}(http:\S+)\/api\/v2\.2/.exec(line)?.[1]);
}
