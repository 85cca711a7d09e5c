import {
  type CheckReport,
  type Finding,
  type FindingList,
  findingList,
  findingsOf,
  type OnFinding,
  quotable,
  redactUrl,
} from '@chainstead/core';
import type { AptosNetwork } from '../transaction.ts';
import { FullnodeFault } from './errors.ts';
import { createHttpFullnode, type HttpFullnode, type HttpFullnodeOptions } from './fullnode-state.ts';
import {
  chainIdOf,
  chainKeyOf,
  type LedgerInfo,
  networkOfChainId,
  parseJson,
  parseLedgerInfo,
  requireGood,
} from './ledger-info.ts';
import { readPage } from './read-page.ts';

export interface FullnodeCheckOptions {
  readonly network: AptosNetwork;
  readonly url: string;
  readonly apiKey: string | null;
  readonly others?: readonly string[];
  /** Milliseconds for all checks. @default 60,000 */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  readonly onFinding?: OnFinding | undefined;
}

const REQUEST_SHARE = 4;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const CONNECTIONS = 4;
const OTHERS_MAX = 4;
const LAG_OK = 50_000;
const SETTLED_DEPTH = 1_000;
const LATENCY_CALLS = 8;
const PAGE = 100;
const PAGES = 12;
const VERSIONS_A_SECOND_GOOD = 500;

const head = findingsOf('ledger version');
const oldest = findingsOf('oldest version');
const sameLedger = findingsOf('same ledger');
const latency = findingsOf('latency');
const reading = findingsOf('versions a second');

interface Requested {
  readonly name: string;
  calls: number;
  /** @throws FullnodeFault, and the signal's abort reason */
  get(path: string): Promise<Buffer>;
  readonly http: HttpFullnode;
}

export async function checkFullnode(options: FullnodeCheckOptions): Promise<CheckReport> {
  const { network, url, apiKey, deadlineMs = 60_000 } = options;
  const timeUp = AbortSignal.timeout(deadlineMs);
  const signal = options.signal === undefined ? timeUp : AbortSignal.any([options.signal, timeUp]);
  const limits = { connections: CONNECTIONS, answerBytesMax: ANSWER_BYTES_MAX };
  const timeoutMs = Math.ceil(deadlineMs / REQUEST_SHARE);
  const open = (of: string): Requested => openFullnode({ url: of, apiKey, timeoutMs, ...limits }, signal);
  const fullnode = open(url);
  const others = (options.others ?? [])
    .filter((other) => other !== url)
    .slice(0, OTHERS_MAX)
    .map(open);
  const startedAt = performance.now();
  const { findings, add } = findingList(options.onFinding);
  try {
    await checkAll(network, fullnode, others, add);
  } catch (error) {
    if (!signal.aborted && !(error instanceof FullnodeFault)) throw error;
    add(
      signal.aborted
        ? findingsOf('time').warning(
            `used up after ${fullnode.calls} calls, before all checks were done`,
            'The missing checks have no result.',
            'Find the slow checks above.',
          )
        : faultFinding(error instanceof FullnodeFault ? error : null),
    );
  } finally {
    await Promise.all([fullnode, ...others].map(({ http }) => http.close()));
  }
  return { name: fullnode.name, findings, calls: fullnode.calls, tookMs: performance.now() - startedAt };
}

function openFullnode(options: HttpFullnodeOptions, signal: AbortSignal): Requested {
  const http = createHttpFullnode(options);
  const requested: Requested = {
    name: redactUrl(options.url),
    calls: 0,
    http,
    async get(path) {
      requested.calls += 1;
      return requireGood(await http.get(path, signal), Date.now());
    },
  };
  return requested;
}

type Compared = { readonly other: Requested; readonly info: LedgerInfo };

async function checkAll(
  network: AptosNetwork,
  fullnode: Requested,
  others: readonly Requested[],
  add: FindingList['add'],
): Promise<void> {
  const info = await readLedger(fullnode);
  const chain = chainKeyOf(network);
  const reported = findingsOf('chain id');
  if (info.chainId !== chainIdOf(network)) {
    const other = networkOfChainId(info.chainId);
    const name = other === null ? '' : ` (${chainKeyOf(other)})`;
    const problem = `${info.chainId}${name}, not ${chainIdOf(network)} (${chain})`;
    return add(
      reported.bad(
        problem,
        'The fullnode belongs to another network. Chainstead ignores it.',
        'Correct the URL.',
      ),
    );
  }
  add(reported.ok(`${info.chainId} (${chain})`));
  const infos = await Promise.all(others.map(async (other) => ({ other, info: await readLedgerOrNull(other) })));
  const comparable = infos.flatMap(({ other, info: its }) =>
    its?.chainId === info.chainId ? [{ other, info: its }] : [],
  );
  add(checkReach(info, comparable));
  add(checkOldest(info));
  add(await checkRoots(fullnode, info, comparable));
  add(await checkLatency(fullnode));
  add(await checkReadingSpeed(fullnode, info));
}

async function readLedger(fullnode: Requested): Promise<LedgerInfo> {
  return parseLedgerInfo(parseJson(await fullnode.get('')));
}

async function readLedgerOrNull(fullnode: Requested): Promise<LedgerInfo | null> {
  try {
    return await readLedger(fullnode);
  } catch (error) {
    if (error instanceof FullnodeFault) return null;
    throw error;
  }
}

function checkReach({ head: own }: LedgerInfo, others: readonly Compared[]): Finding {
  const [best] = others.toSorted((left, right) => right.info.head - left.info.head);
  if (best === undefined) return head.ok(String(own));
  const behind = best.info.head - own;
  if (behind <= LAG_OK) return head.ok(`${own}; of others ${best.other.name} is at ${best.info.head}`);
  return head.warning(
    `${own}: ${behind} versions behind ${best.other.name}`,
    'Newer versions are read from other fullnodes. Without them, indexing would lag.',
    'Check that the fullnode has peers and is syncing.',
  );
}

function checkOldest(info: LedgerInfo): Finding {
  if (info.oldest === 0) return oldest.ok('0: it has the full history');
  return oldest.warning(
    `${info.oldest}: earlier versions are pruned`,
    'Earlier versions can’t be read from it.',
    'Set APTOS_START_VERSION to this version or a later one, or add a fullnode with the full history.',
  );
}

async function checkRoots(fullnode: Requested, info: LedgerInfo, others: readonly Compared[]): Promise<Finding> {
  const version = Math.min(info.head, ...others.map((other) => other.info.head)) - SETTLED_DEPTH;
  const lowest = Math.max(info.oldest, ...others.map((other) => other.info.oldest));
  if (others.length === 0 || version < lowest) return sameLedger.ok('nothing was there to compare with');
  const own = await rootAfter(fullnode, version);
  const same: string[] = [];
  for (const { other } of others) {
    const root = await rootAfter(other, version);
    if (root === null || own === null) continue;
    if (root !== own)
      return sameLedger.bad(
        `after version ${version} its root is ${own}, that of ${other.name} is ${root}`,
        'The two serve different ledgers. Indexing stops when it finds the difference.',
        'Check with an explorer which one serves the correct ledger, and remove the other.',
      );
    same.push(other.name);
  }
  return sameLedger.ok(
    same.length === 0 ? 'nothing was there to compare with' : `as ${same.join(', ')} at ${version}`,
  );
}

async function rootAfter(fullnode: Requested, version: number): Promise<string | null> {
  try {
    return readPage(await fullnode.get(`/transactions?start=${version}&limit=1`), version, 1, null).root;
  } catch (error) {
    if (error instanceof FullnodeFault) return null;
    throw error;
  }
}

async function checkLatency(fullnode: Requested): Promise<Finding> {
  const times: number[] = [];
  for (let call = 0; call < LATENCY_CALLS; call++) {
    const startedAt = performance.now();
    await fullnode.get('');
    times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  return latency.ok(
    `${Math.round(times[LATENCY_CALLS / 2] ?? 0)} ms, the slowest ${Math.round(times.at(-1) ?? 0)} ms`,
  );
}

async function checkReadingSpeed(
  fullnode: Requested,
  { head: newest, oldest: first }: LedgerInfo,
): Promise<Finding> {
  const starts = Array.from({ length: PAGES }, (_, index) => newest - (index + 1) * PAGE + 1).filter(
    (start) => start >= first,
  );
  if (starts.length === 0) return reading.ok('the ledger is too short for a measurement');
  const startedAt = performance.now();
  let versions = 0;
  const readOn = async (): Promise<void> => {
    for (let start = starts.pop(); start !== undefined; start = starts.pop()) {
      const page = readPage(await fullnode.get(`/transactions?start=${start}&limit=${PAGE}`), start, PAGE, null);
      versions += page.last - page.first + 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, readOn));
  const perSecond = Math.round(versions / Math.max(0.001, (performance.now() - startedAt) / 1_000));
  if (perSecond >= VERSIONS_A_SECOND_GOOD) return reading.ok(String(perSecond));
  return reading.warning(
    String(perSecond),
    'The network produces several hundred versions a second. Indexing lags or can’t keep up, and backfill is slow.',
    'Use a fullnode without a provider limit, or an API key (APTOS_API_KEY).',
  );
}

function faultFinding(fault: FullnodeFault | null): Finding {
  const message = quotable(fault?.message ?? 'no answer');
  if (fault?.kind === 'rejected')
    return findingsOf('connection').bad(
      `refused: ${message}`,
      'Nothing can be read from it.',
      'Check the URL, and APTOS_API_KEY (APTOS_TESTNET_API_KEY).',
    );
  if (fault?.kind === 'throttled')
    return findingsOf('limits').warning(
      `it throttles: ${message}`,
      'Chainstead waits as long as the fullnode requests and uses others meanwhile.',
      'Use an API key or your own fullnode.',
    );
  return findingsOf('connection').bad(
    message,
    'Little or nothing can be read from it.',
    'Check the URL, the fullnode and its REST API, and the network between it and this machine.',
  );
}
