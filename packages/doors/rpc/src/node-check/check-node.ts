import { type Chain, createChainRegistry } from '@chainstead/chains';
import {
  type CheckReport,
  type Clock,
  type Finding,
  type FindingList,
  findingList,
  findingsOf,
  type OnFinding,
  quotable,
  systemClock,
  toQuantity,
  ZERO_ADDRESS,
} from '@chainstead/core';
import { anySignal } from '../aborting.ts';
import { RequestAbortedError } from '../errors.ts';
import { nameUpstreams } from '../redact-secrets.ts';
import type { UpstreamConfig } from '../upstream-pool.ts';
import { checkBranch, checkFinalized, checkHead, type KnownBlock, type OtherHead } from './check-head.ts';
import { checkBlockTime, checkOldBlocks, checkOldState, checkPriceContracts } from './check-history.ts';
import { checkRate, rateLimitFinding } from './check-rate.ts';
import { checkBatches, checkLogRange, checkReceipts } from './check-reads.ts';
import { checkLatency, checkReadingSpeed, checkSubscription, type SampledBlock } from './check-speed.ts';
import {
  createNodeProbe,
  isBlock,
  type NodeProbe,
  type ProbeAnswer,
  probeBlock,
  quantityOf,
} from './node-probe.ts';

export interface NodeCheckOptions {
  readonly chain: Chain;
  readonly upstream: UpstreamConfig;
  readonly others?: readonly UpstreamConfig[];
  readonly known?: readonly KnownBlock[];
  /** An indexed dataset reads traces. @default false */
  readonly needsTraces?: boolean;
  /** Unfinished checks are reported. @default 120,000 */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** @default no report before the end */
  readonly onFinding?: OnFinding | undefined;
  readonly onBlock?: ((block: SampledBlock) => void) | undefined;
}

const DEADLINE_MS = 120_000;
/** Measuring a limit of 1,200 calls a minute takes up to 3,700. */
const CALLS_MAX = 5_000;
const REQUEST_SHARE = 6;
const OTHERS_MAX = 4;
/** Nodes on the same chain agree on blocks this far below another's head. */
const SETTLED_DEPTH = 64;

/** Within {@link CALLS_MAX}, time and rate. Rejects only for an internal defect. */
export async function checkNode(options: NodeCheckOptions): Promise<CheckReport> {
  const { chain, upstream, clock = systemClock, deadlineMs = DEADLINE_MS } = options;
  const timeUp = AbortSignal.timeout(deadlineMs);
  const signal = anySignal(timeUp, options.signal);
  const [name = ''] = nameUpstreams([upstream]);
  const startedAt = performance.now();
  if (/^wss?:/.test(upstream.url)) {
    const finding = await checkSubscription({ chain, config: upstream, name, clock, signal });
    return { name, findings: [finding], calls: 2, tookMs: performance.now() - startedAt };
  }
  const probing = { timeoutMs: Math.ceil(deadlineMs / REQUEST_SHARE), callsMax: CALLS_MAX, signal, clock };
  const probe = createNodeProbe({ ...probing, config: upstream });
  const others = (options.others ?? [])
    .filter(({ url }) => url !== upstream.url && /^https?:/.test(url))
    .slice(0, OTHERS_MAX)
    .map((config) => createNodeProbe({ ...probing, config }));
  const { findings, add } = findingList(options.onFinding);
  try {
    await checkAll({ ...options, clock, signal, deadlineMs }, probe, others, add);
  } catch (error) {
    if (!(error instanceof RequestAbortedError)) throw error;
    const found = `used up after ${probe.calls} calls, before all checks were done`;
    const remedy = 'Find the slow checks above. `chainstead doctor` has a longer time limit than the console.';
    add(findingsOf('time').warning(found, 'The missing checks have no result.', remedy));
  } finally {
    await Promise.all([probe, ...others].map((node) => node.close()));
  }
  if (probe.measuredRate === null && probe.learnedRate !== null) add(rateLimitFinding(chain, probe.learnedRate));
  return { name, findings, calls: probe.calls, tookMs: performance.now() - startedAt };
}

/** In sequence: speed and limits are the node's. @throws RequestAbortedError */
async function checkAll(
  options: NodeCheckOptions & {
    readonly clock: Clock;
    readonly signal: AbortSignal;
    readonly deadlineMs: number;
  },
  probe: NodeProbe,
  others: readonly NodeProbe[],
  add: FindingList['add'],
): Promise<void> {
  const { known = [], needsTraces = false, clock, onBlock } = options;
  const identity = await checkChainId(options.chain, probe);
  add(identity);
  if (identity.verdict === 'bad') return;
  // First: refusals would distort all other checks.
  add(...(await checkRate(options.chain, probe, options)));
  add(await checkClient(probe));
  const blockTime = await checkBlockTime(options.chain, probe);
  if (blockTime.finding !== null) add(blockTime.finding);
  const chain = { ...options.chain, blockTimeMs: blockTime.blockTimeMs };
  const otherHeads = await readHeads(chain, others);
  const { number: head, findings: ofHead } = await checkHead(chain, probe, otherHeads, clock);
  add(...ofHead);
  if (head === null) return;
  const elsewhere = await readKnown(others, Math.min(head, ...otherHeads.map((other) => other.head)));
  add(await checkBranch(probe, [...known.filter(({ number }) => number <= head), ...elsewhere]));
  add(await checkFinalized(chain, probe, head));
  add(await checkReceipts(probe, head));
  add(await checkLogRange(chain, probe, head));
  add(await checkBatches(probe, clock, options.signal));
  add(await checkOldBlocks(chain, probe, head));
  add(await checkOldState(chain, probe, head));
  add(await checkTraces(probe, head, needsTraces));
  add(await checkAccountProofs(probe, head));
  add(await checkAccountIndex(probe, head));
  add(...(await checkPriceContracts(chain, probe)));
  add(await checkLatency(chain, probe));
  add(await checkReadingSpeed(chain, probe, head, onBlock));
}

async function readHeads(
  chain: Chain,
  others: readonly NodeProbe[],
): Promise<(OtherHead & { probe: NodeProbe })[]> {
  const heads = await Promise.all(
    others.map(async (probe) => {
      const [id, head] = [await probe.ask('eth_chainId', []), await probe.ask('eth_blockNumber', [])];
      const number = id.ok && Number(id.result) === chain.id ? quantityOf(head) : null;
      return number === null ? [] : [{ name: probe.name, head: number, probe }];
    }),
  );
  return heads.flat();
}

async function readKnown(others: readonly NodeProbe[], lowestHead: number): Promise<KnownBlock[]> {
  const number = lowestHead - SETTLED_DEPTH;
  if (number < 0) return [];
  const blocks = await Promise.all(
    others.map(async (probe) => {
      const block = await probeBlock(probe, number);
      return isBlock(block) ? [{ number, hash: block.header.hash, source: probe.name }] : [];
    }),
  );
  return blocks.flat();
}

/** Null if the node returns none. */
export async function fetchChainId(upstream: UpstreamConfig, deadlineMs: number): Promise<number | null> {
  const signal = AbortSignal.timeout(deadlineMs);
  const probe = createNodeProbe({
    config: upstream,
    timeoutMs: deadlineMs,
    callsMax: 1,
    signal,
    clock: systemClock,
  });
  try {
    const answer = await probe.ask('eth_chainId', []);
    const id = answer.ok ? Number(answer.result) : Number.NaN;
    return Number.isSafeInteger(id) ? id : null;
  } catch (error) {
    if (error instanceof RequestAbortedError) return null;
    throw error;
  } finally {
    await probe.close();
  }
}

const traces = findingsOf('traces');
const proofs = findingsOf('account proofs');
const accounts = findingsOf('account index');
/** Few for a node that scans blocks; more than nodes that trace allow. */
const INDEXED_BLOCKS = 2_000;

async function checkTraces(probe: NodeProbe, head: number, needed: boolean): Promise<Finding> {
  const block = toQuantity(head);
  const debug = await probe.ask('debug_traceBlockByNumber', [block, { tracer: 'callTracer' }]);
  const parity = await probe.ask('trace_block', [block]);
  const served = [...(debug.ok ? ['debug_traceBlockByNumber'] : []), ...(parity.ok ? ['trace_block'] : [])];
  if (served.length > 0) return traces.ok(served.join(' and '));
  if (!needed) return traces.ok('none; no indexed dataset needs them');
  return traces.warning(
    `none: ${debug.ok ? '' : debug.text}`,
    'Internal transactions are missing if no other node of the chain has traces.',
    'Add a node with debug_traceBlockByNumber or trace_block, or enable this API on the node.',
  );
}

async function checkAccountProofs(probe: NodeProbe, head: number): Promise<Finding> {
  const answer = await probe.ask('eth_getProof', [ZERO_ADDRESS, [], toQuantity(head)]);
  if (answer.ok) return proofs.ok('eth_getProof');
  return proofs.warning(
    `eth_getProof is not served: ${answer.text}`,
    'Only `chainstead verify-balances` needs proofs. Without them, it compares nodes with each other.',
    'No action needed, unless you want proven balances.',
  );
}

async function checkAccountIndex(probe: NodeProbe, head: number): Promise<Finding> {
  const pages = await probe.ask('ots_searchTransactionsBefore', [ZERO_ADDRESS, 0, 1]);
  const [fromBlock, toBlock] = [toQuantity(Math.max(0, head - INDEXED_BLOCKS)), toQuantity(head)];
  const filter = await probe.ask('trace_filter', [{ fromBlock, toBlock, fromAddress: [ZERO_ADDRESS], count: 1 }]);
  const served = [...(pages.ok ? ['ots_searchTransactionsBefore'] : []), ...(filter.ok ? ['trace_filter'] : [])];
  if (served.length > 0)
    return accounts.ok(`${served.join(' and ')}: older transactions of wallets are read from it`);
  return accounts.ok('none; older transactions of wallets are found by their counts and balances');
}

const chainId = findingsOf('chain id');
const client = findingsOf('client');

async function checkChainId(chain: Chain, probe: NodeProbe): Promise<Finding> {
  const answer = await probe.ask('eth_chainId', []);
  if (!answer.ok) return unusable(answer);
  const id = Number(answer.result);
  if (id === chain.id || chain.aliasIds.includes(id)) return chainId.ok(`${id} (${chain.key})`);
  const other = createChainRegistry().find(id);
  const shown = Number.isSafeInteger(id) ? `${id}${other === null ? '' : ` (${other.key})`}` : 'no number';
  return chainId.bad(
    `${shown}, not ${chain.id} (${chain.key})`,
    'The node belongs to another chain. Chainstead ignores it.',
    other === null ? 'Correct the URL.' : `Correct the URL, or move it to the chain ${other.key}.`,
  );
}

function unusable({ reaction, text }: Extract<ProbeAnswer, { ok: false }>): Finding {
  const connection = findingsOf('connection');
  if (reaction === 'misconfigured' || reaction === 'out-of-budget')
    return connection.bad(
      `refused: ${text}`,
      'The provider rejects these calls.',
      'Check the key in the URL, its plan, and its remaining budget.',
    );
  if (reaction === 'transport' || reaction === 'timeout')
    return connection.bad(
      `no answer: ${text}`,
      'Nothing can be read from it.',
      'Check the URL, the node, its JSON-RPC port, and the network between it and this machine.',
    );
  return connection.bad(
    `no JSON-RPC node responds there: ${text}`,
    'Nothing can be read from it.',
    'Check the path and port of the URL. It has to be the JSON-RPC address of a node.',
  );
}

async function checkClient(probe: NodeProbe): Promise<Finding> {
  const answer = await probe.ask('web3_clientVersion', []);
  const name = answer.ok && typeof answer.result === 'string' ? quotable(answer.result) : null;
  return client.ok(name ?? 'does not report its name');
}
