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
import { createHttpFullnode, type HttpFullnode } from './http-fullnode.ts';
import { requireGood } from './interpret-answer.ts';
import { type LedgerInfo, parseLedgerInfo } from './ledger-info.ts';
import { chainIdOf, chainKeyOf, networkOfChainId } from './network.ts';
import { readPage } from './read-page.ts';

export interface FullnodeCheckOptions {
  readonly network: AptosNetwork;
  readonly url: string;
  readonly apiKey: string | null;
  /** Other fullnodes of the network, to compare with. */
  readonly others?: readonly string[];
  /** For all of it. Milliseconds. @default 60,000 */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  /** @default nobody is told before the end */
  readonly onFinding?: OnFinding | undefined;
}

const DEADLINE_MS = 60_000;
const REQUEST_SHARE = 4;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const CONNECTIONS = 4;
const OTHERS_MAX = 4;
/** Versions behind the others that are no fault yet: some seconds of the network. */
const LAG_OK = 50_000;
/** So far below the lowest head two fullnodes are compared. */
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

/** A fullnode that counts what it is asked. */
interface Asked {
  readonly name: string;
  calls: number;
  /** @throws FullnodeFault, and what the signal aborts with */
  get(path: string): Promise<Buffer>;
  readonly http: HttpFullnode;
}

/** Whether a fullnode is good for a network, as findings in words. Texts hold no secrets of its URL. Rejects only for a defect of its own. */
export async function checkFullnode(options: FullnodeCheckOptions): Promise<CheckReport> {
  const { network, url, apiKey, deadlineMs = DEADLINE_MS } = options;
  const timeUp = AbortSignal.timeout(deadlineMs);
  const signal = options.signal === undefined ? timeUp : AbortSignal.any([options.signal, timeUp]);
  const timeoutMs = Math.ceil(deadlineMs / REQUEST_SHARE);
  const open = (of: string): Asked => openFullnode({ url: of, apiKey, timeoutMs, signal });
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
            `used up after ${fullnode.calls} calls, before all was looked at`,
            'What is not told here is not known.',
            'Look at what took long.',
          )
        : faultFinding(error instanceof FullnodeFault ? error : null),
    );
  } finally {
    await Promise.all([fullnode, ...others].map(({ http }) => http.close()));
  }
  return { name: fullnode.name, findings, calls: fullnode.calls, tookMs: performance.now() - startedAt };
}

function openFullnode({
  url,
  apiKey,
  timeoutMs,
  signal,
}: {
  readonly url: string;
  readonly apiKey: string | null;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}): Asked {
  const http = createHttpFullnode({
    url,
    apiKey,
    connections: CONNECTIONS,
    answerBytesMax: ANSWER_BYTES_MAX,
    timeoutMs,
  });
  const asked: Asked = {
    name: redactUrl(url),
    calls: 0,
    http,
    async get(path) {
      asked.calls += 1;
      return requireGood(await http.get(path, signal), Date.now());
    },
  };
  return asked;
}

async function checkAll(
  network: AptosNetwork,
  fullnode: Asked,
  others: readonly Asked[],
  add: FindingList['add'],
): Promise<void> {
  const info = await readLedger(fullnode);
  const chain = chainKeyOf(network);
  const told = findingsOf('chain id');
  if (info.chainId !== chainIdOf(network)) {
    const other = networkOfChainId(info.chainId);
    add(
      told.bad(
        `${info.chainId}${other === null ? '' : ` (${chainKeyOf(other)})`}, not ${chainIdOf(network)} (${chain})`,
        'It is of another network: Chainstead leaves it out.',
        'Correct the URL.',
      ),
    );
    return;
  }
  add(told.ok(`${info.chainId} (${chain})`));
  const infos = await Promise.all(others.map(async (other) => ({ other, info: await readLedgerOrNull(other) })));
  const comparable = infos.flatMap(({ other, info: its }) =>
    its?.chainId === info.chainId ? [{ other, info: its }] : [],
  );
  add(
    checkReach(
      info,
      comparable.map((one) => ({ name: one.other.name, head: one.info.head })),
    ),
  );
  add(checkOldest(info));
  add(await checkRoots(fullnode, info, comparable));
  add(await checkLatency(fullnode));
  add(await checkReadingSpeed(fullnode, info));
}

async function readLedger(fullnode: Asked): Promise<LedgerInfo> {
  const body = await fullnode.get('');
  try {
    return parseLedgerInfo(JSON.parse(body.toString('utf8')));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new FullnodeFault('truncated', 'the answer is no complete JSON', { cause: error });
  }
}

/** Null where it can't be compared with. */
async function readLedgerOrNull(fullnode: Asked): Promise<LedgerInfo | null> {
  try {
    return await readLedger(fullnode);
  } catch (error) {
    if (error instanceof FullnodeFault) return null;
    throw error;
  }
}

function checkReach(
  { head: own }: LedgerInfo,
  others: readonly { readonly name: string; readonly head: number }[],
): Finding {
  const best = others.toSorted((one, other) => other.head - one.head)[0];
  if (best === undefined) return head.ok(String(own));
  const behind = best.head - own;
  if (behind <= LAG_OK) return head.ok(`${own}; of others ${best.name} is at ${best.head}`);
  return head.warning(
    `${own}: ${behind} versions behind ${best.name}`,
    'Newer versions are read from others; alone it would keep the network behind.',
    'Look whether it has peers and synchronises.',
  );
}

function checkOldest(info: LedgerInfo): Finding {
  if (info.oldest === 0) return oldest.ok('0: it keeps all of the history');
  return oldest.warning(
    `${info.oldest}: those below are thrown away`,
    'History below can’t be read from it.',
    'Let history begin there or above (APTOS_START_VERSION), or add a fullnode that keeps everything.',
  );
}

/** Whether another fullnode has the same root of the ledger. */
async function checkRoots(
  fullnode: Asked,
  info: LedgerInfo,
  others: readonly { readonly other: Asked; readonly info: LedgerInfo }[],
): Promise<Finding> {
  const version = Math.min(info.head, ...others.map((one) => one.info.head)) - SETTLED_DEPTH;
  const lowest = Math.max(info.oldest, ...others.map((one) => one.info.oldest));
  if (others.length === 0 || version < lowest) return sameLedger.ok('nothing was there to compare with');
  const own = await rootAfter(fullnode, version);
  const same: string[] = [];
  for (const { other } of others) {
    const root = await rootAfter(other, version);
    if (root === null || own === null) continue;
    if (root !== own)
      return sameLedger.bad(
        `after version ${version} its root is ${own}, that of ${other.name} is ${root}`,
        'One of the two is not the ledger that the other is: indexing stops where they meet.',
        'Find out with an explorer which serves the true ledger, and leave the other one out.',
      );
    same.push(other.name);
  }
  return sameLedger.ok(same.length === 0 ? 'nothing was there to compare with' : `as ${same.join(', ')} at ${version}`);
}

async function rootAfter(fullnode: Asked, version: number): Promise<string | null> {
  try {
    return readPage(await fullnode.get(`/transactions?start=${version}&limit=1`), version, 1, null).root;
  } catch (error) {
    if (error instanceof FullnodeFault) return null;
    throw error;
  }
}

async function checkLatency(fullnode: Asked): Promise<Finding> {
  const times: number[] = [];
  for (let call = 0; call < LATENCY_CALLS; call++) {
    const startedAt = performance.now();
    await fullnode.get('');
    times.push(performance.now() - startedAt);
  }
  times.sort((one, other) => one - other);
  return latency.ok(`${Math.round(times[LATENCY_CALLS / 2] ?? 0)} ms, the slowest ${Math.round(times.at(-1) ?? 0)} ms`);
}

async function checkReadingSpeed(fullnode: Asked, { head: newest, oldest: first }: LedgerInfo): Promise<Finding> {
  const starts = Array.from({ length: PAGES }, (_, index) => newest - (index + 1) * PAGE + 1).filter(
    (start) => start >= first,
  );
  if (starts.length === 0) return reading.ok('the ledger is too short to tell');
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
    'The network makes some hundred versions a second: it follows late or not at all, and a history takes long.',
    'Use a fullnode without a limit of its provider, or an API key (APTOS_API_KEY).',
  );
}

function faultFinding(fault: FullnodeFault | null): Finding {
  const found = quotable(fault?.message ?? 'no answer');
  if (fault?.kind === 'rejected')
    return findingsOf('connection').bad(
      `refused: ${found}`,
      'Nothing can be read from it.',
      'Check the URL, and APTOS_API_KEY (APTOS_TESTNET_API_KEY).',
    );
  if (fault?.kind === 'throttled')
    return findingsOf('limits').warning(
      `it throttles: ${found}`,
      'It is left alone for as long as it asks, and others are read from.',
      'Use an API key or a fullnode of your own.',
    );
  return findingsOf('connection').bad(
    found,
    'Nothing, or not all, can be read from it.',
    'Check the URL, that the fullnode runs with its REST API, and what is between.',
  );
}
