/** The pool of a chain without nodes: its head is the last block of the files that a public list contains. */
import type { Chain } from '@chainstead/chains';
import {
  type BlockRange,
  type Clock,
  type Hash,
  type Log,
  rangeSize,
  sleepUnlessAborted,
} from '@chainstead/core';
import { EPOCH_BLOCKS, proveBlock } from '@chainstead/proof';
import {
  type ForwardingPool,
  type Head,
  RangeTooLargeError,
  RequestAbortedError,
  type UpstreamStatus,
} from '@chainstead/rpc';
import { matchesLog, toExpectation } from '@chainstead/rpc/check-logs';
import type { BlockSource, SourceBlock } from '../block-source.ts';
import {
  FilesLackBlocksError,
  isGap,
  NoProvenBlockError,
  SourceError,
  type SourceFault,
} from '../source-error.ts';

type EraChain = Pick<Chain, 'key' | 'receiptsRoot'>;

export interface EraPoolOptions {
  readonly chain: EraChain;
  readonly clock: Clock;
  readonly sources: readonly BlockSource[];
  /** Without upstreams: it refuses calls that only nodes serve. */
  readonly nodeless: ForwardingPool;
}

/** Files are listed again after this time. */
const LISTED_FOR_MS = 10_000;
/** A log without its data. */
const LOG_BYTES = 600;
/** Blocks that can be read by hash: readers do so only for those that they have just read. */
const HASHES_MAX = 4_096;
const NEVER = new AbortController().signal;

/** Blocks of era files as a node returns them, and only those that are proven to be canonical: all of them are final. */
export function createEraPool({ chain, clock, sources, nodeless }: EraPoolOptions): ForwardingPool {
  const closing = new AbortController();
  const name = sources.map((source) => source.name).join(', ');
  const newest = createNewestBlock(sources, chain, clock);
  const { read, readRange, numberOf, reads } = createReader(newest, chain);

  const getWholeBlock: ForwardingPool['getWholeBlock'] = async (at, options = {}) => {
    const number = typeof at === 'number' ? at : numberOf(at);
    if (number === undefined || options.exclude?.has(name) === true) return null;
    const found = await read(number, options.transactions ?? false, options.signal);
    if (found === null) return null;
    const { block, receipts } = found;
    return { value: { block, receipts }, upstream: name };
  };
  const headAnswer = async (signal?: AbortSignal) => ({ value: await newest.head(signal), upstream: name });

  return {
    ...nodeless,
    isCanonical: true,
    async start() {
      await newest.head();
    },
    getHead: (options = {}) => headAnswer(options.signal),
    getFinalized: async (options = {}) => (await newest.head(options.signal)).number,
    async waitForHead(after, given) {
      const signal = AbortSignal.any([given, closing.signal]);
      for (;;) {
        if (signal.aborted) throw new RequestAbortedError('eth_blockNumber', signal.reason);
        const answer = await headAnswer(signal);
        if (answer.value.hash !== after?.hash) return answer;
        await sleepUnlessAborted(clock, LISTED_FOR_MS, signal);
      }
    },
    async getBlock(at, options) {
      const answer = await getWholeBlock(at, options);
      return answer === null ? null : { ...answer, value: answer.value.block };
    },
    async getHeaders(wanted, options = {}) {
      const found: Awaited<ReturnType<ForwardingPool['getHeaders']>> = [];
      for (const number of wanted) {
        const one = await read(number, false, options.signal);
        if (one !== null) found.push({ value: one.block.header, upstream: name });
      }
      return found;
    },
    async getReceipts({ header }, options = {}) {
      const found = await read(header.number, false, options.signal);
      return { value: found?.receipts ?? [], upstream: name };
    },
    getWholeBlock,
    async getLogs(query, options = {}) {
      const { signal = NEVER, bytesMax: bytes_max = Number.POSITIVE_INFINITY } = options;
      const expected = toExpectation(query);
      const logs: Log[] = [];
      let bytes = 0;
      for await (const { receipts } of readRange(query.range, signal))
        for (const log of receipts.flatMap((receipt) => receipt.logs)) {
          if (!matchesLog(log, expected)) continue;
          logs.push(log);
          bytes += LOG_BYTES + log.data.length / 2;
          if (bytes > bytes_max) throw new RangeTooLargeError({ chain: chain.key, ...query.range, bytes_max });
        }
      return { logs, sources: [{ range: query.range, upstream: name }], calls: filesOf(query.range) };
    },
    estimateLogCalls: (_query, ranges) => ranges.reduce((sum, range) => sum + filesOf(range), 0),
    status: () => [{ ...STATUS, name, requests: reads(), ...newest.status() }],
    async close() {
      closing.abort();
      await Promise.all([nodeless.close(), ...sources.map((source) => source.close())]);
    },
  };
}

/** Counted as calls: readers record their progress after some. */
function filesOf(range: BlockRange): number {
  return Math.ceil(rangeSize(range) / EPOCH_BLOCKS);
}

function createReader(newest: NewestBlock, chain: EraChain) {
  const numbers = new Map<Hash, number>();
  let reads = 0;
  const lacking = (what: string) => new FilesLackBlocksError({ chain: chain.key, what });

  /** @throws FilesLackBlocksError at the first hole, block above the head, or block that is not proven */
  async function* readRange(range: BlockRange, signal: AbortSignal, transactions = false) {
    const options = { chain, transactions };
    const { number: head } = await newest.head(signal);
    if (range.to > head) throw lacking(`no public list contains block ${Math.max(range.from, head + 1)}`);
    for (let next = range.from; next <= range.to; ) {
      const first = next;
      let failure = lacking(`no file that can be proven has block ${first}`);
      for (const source of await newest.sourcesOf(first)) {
        try {
          for await (const block of readProven(source, { from: next, to: range.to }, options, signal)) {
            yield block;
            next = block.block.header.number + 1;
          }
        } catch (error) {
          if (!isGap(error)) throw error;
          failure = lacking(String(error.facts.what));
        }
        if (next > first) break;
      }
      if (next === first) throw failure;
    }
  }

  return {
    reads: () => reads,
    numberOf: (hash: Hash) => numbers.get(hash),
    readRange,
    /** Null above the head. @throws FilesLackBlocksError as for ranges */
    async read(number: number, transactions: boolean, signal = NEVER): Promise<SourceBlock | null> {
      reads += 1;
      if (number > (await newest.head(signal)).number) return null;
      for await (const found of readRange({ from: number, to: number }, signal, transactions)) {
        numbers.set(found.block.header.hash, number);
        const [oldest] = numbers.keys();
        if (numbers.size > HASHES_MAX && oldest !== undefined) numbers.delete(oldest);
        return found;
      }
      return null;
    },
  };
}

/**
 * Ends early where the source does. If several files have a block, the first that holds is read.
 *
 * @throws SourceError at the first block whose header or receipts are not proven
 */
async function* readProven(
  source: BlockSource,
  range: BlockRange,
  options: { readonly chain: EraChain; readonly transactions: boolean },
  signal: AbortSignal,
): AsyncGenerator<SourceBlock> {
  for (let next = range.from; ; ) {
    let failed: { readonly block: SourceBlock; readonly failure: SourceError } | null = null;
    for await (const block of source.readBlocks({ from: next, to: range.to }, options, signal)) {
      const failure = failureOf(source, block, options.chain);
      if (failure !== null) {
        failed = { block, failure };
        break;
      }
      next = block.block.header.number + 1;
      yield block;
    }
    if (failed === null) return;
    const { block, failure } = failed;
    const only = { from: next, to: next };
    if (block.file === undefined || source.refuse?.(block.file, only, String(failure.facts.what)) !== true)
      throw failure;
  }
}

/** Null: header and receipts of the block are proven. */
function failureOf(
  source: BlockSource,
  { block, receipts, isCanonical, lacks }: SourceBlock,
  chain: EraChain,
): SourceError | null {
  const failure = (fault: SourceFault, what: string) => new SourceError({ source: source.name, fault, what });
  const { number } = block.header;
  if (!isCanonical) return failure('lacking', `no public list contains block ${number}`);
  if (lacks.length > 0)
    return failure('lacking', `block ${number} lacks ${lacks.map(({ field }) => field).join(', ')}`);
  const proof = proveBlock({ ...block, receipts }, { ...chain, headerHash: false });
  if (proof.level !== 'unproven') return null;
  return failure('wrong', `the receipts of block ${number} do not hold: ${proof.reason}`);
}

const STATUS: Omit<UpstreamStatus, 'name' | 'head' | 'headAt'> = {
  state: 'healthy',
  reason: 'no node is set: the head is the last proven block of the era files',
  score: 1,
  latencyMs: { p50: 0, p95: 0 },
  requests: 0,
  learnedRate: null,
  faults: {},
  capabilities: { blockReceipts: true, batch: null, traces: null, logRangeMax: null, logTimestamps: true },
  lastError: null,
};

type NewestBlock = ReturnType<typeof createNewestBlock>;

/** Searched again only when the files change. */
function createNewestBlock(sources: readonly BlockSource[], chain: EraChain, clock: Clock) {
  let lists: readonly { readonly source: BlockSource; readonly ranges: readonly BlockRange[] }[] = [];
  let listedAt = Number.NEGATIVE_INFINITY;
  let found: { readonly of: string; readonly head: Head } | null = null;
  let headAt: number | null = null;

  async function list(signal: AbortSignal): Promise<void> {
    if (clock.now() - listedAt < LISTED_FOR_MS) return;
    lists = await Promise.all(
      sources.map(async (source) => ({ source, ranges: await source.available(signal) })),
    );
    listedAt = clock.now();
  }

  async function search(signal: AbortSignal): Promise<Head> {
    const ranges = lists
      .flatMap(({ source, ranges: own }) => own.map((range) => ({ source, range })))
      .toSorted((a, b) => b.range.to - a.range.to);
    let reason = 'it has no file of this chain';
    // A file without proofs has none at all, so the block before the file is next.
    for (const { source, range } of ranges)
      for (let at = range.to; at >= range.from; at -= (at % EPOCH_BLOCKS) + 1) {
        const { block, reason: other } = await newestOf(source, at, chain, signal);
        if (block !== null) return block;
        reason = other;
      }
    throw new NoProvenBlockError({ chain: chain.key, reason });
  }

  return {
    async head(signal = NEVER): Promise<Head> {
      await list(signal);
      const of = JSON.stringify(lists.map(({ ranges }) => ranges));
      if (found?.of !== of) found = { of, head: await search(signal) };
      headAt = clock.now();
      return found.head;
    },
    async sourcesOf(number: number): Promise<readonly BlockSource[]> {
      await list(NEVER);
      return lists
        .filter(({ ranges }) => ranges.some(({ from, to }) => from <= number && number <= to))
        .map(({ source }) => source);
    },
    status: () => ({ head: found?.head.number ?? null, headAt }),
  };
}

async function newestOf(
  source: BlockSource,
  number: number,
  chain: EraChain,
  signal: AbortSignal,
): Promise<{ readonly block: Head | null; readonly reason: string }> {
  const range = { from: number, to: number };
  const reason = `no file has block ${number}`;
  try {
    for await (const { block } of readProven(source, range, { chain, transactions: false }, signal))
      return { block: block.header, reason };
    return { block: null, reason };
  } catch (error) {
    // A damaged file must not hide the files before it.
    if (isGap(error)) return { block: null, reason: String(error.facts.what) };
    throw error;
  }
}
