/** Ties proven blocks to the followed chain: another chain's blocks match their headers and roots too. */
import type { Chain } from '@chainstead/chains';
import {
  type BlockRange,
  ChainsteadError,
  type Hash,
  intersectRanges,
  orAborted,
  subtractRanges,
} from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import type { Coverage } from '../coverage/coverage.ts';
import { isLinkedByParents, readFollowedBlock, readLinkedBlocks } from '../coverage/linked-blocks.ts';
import { OtherChainError, ReorgedWhileReadingError } from '../errors.ts';
import type { BlockFacts } from './decoded-batch.ts';
import type { DecodedRange } from './read-range.ts';

export interface Linking {
  readonly database: Database;
  readonly chain: Chain;
  readonly pool: UpstreamPool;
}

/** A second upstream must not hold up blocks that can wait for their link. */
const SECOND_TIMEOUT_MS = 5_000;

/**
 * Blocks that nothing links get the level `record`. Costs one header of a second upstream, unless the block above the
 * range is stored.
 *
 * @param isConfirmed two parties have the last block: a source of history and a node
 * @throws OtherChainError
 */
export async function linkRange<Read extends Pick<DecodedRange, 'range' | 'blocks' | 'levels'>>(
  linking: Linking,
  read: Read,
  signal: AbortSignal,
  isConfirmed = linking.pool.isCanonical === true,
): Promise<Read & { readonly isLinked: boolean }> {
  const unlinked: BlockRange[] = [];
  for (const piece of piecesOf([...read.blocks.values()])) {
    const [first, last] = [piece[0], piece.at(-1)];
    if (first === undefined || last === undefined) continue;
    const isLinked = await isLinkedToChain(linking, last, signal, isConfirmed);
    await requireLinks(linking, piece, isLinked);
    if (!isLinked) unlinked.push({ from: first.number, to: last.number });
  }
  if (unlinked.length === 0) return { ...read, isLinked: true };
  const levels = Object.entries(read.levels).map(([part, runs]) => [
    part,
    runs.flatMap((run) => lowered(run, unlinked)),
  ]);
  return { ...read, levels: Object.fromEntries(levels), isLinked: false };
}

/** The newest block of each upstream stands for all logs that it returned. @throws as requireUpstreams */
export async function requireSameChain(
  linking: Linking,
  { blocks, ...read }: Parameters<typeof requireUpstreams>[1] & { readonly blocks: Iterable<BlockFacts> },
  signal: AbortSignal,
): Promise<void> {
  await requireUpstreams(linking, read, signal);
  const newest = new Map<string | undefined, BlockFacts>();
  for (const block of blocks)
    if (block.number > (newest.get(block.upstream)?.number ?? -1)) newest.set(block.upstream, block);
  // Invariant: PROOF-SAME-CHAIN
  for (const block of newest.values())
    await isLinkedToChain(linking, block, signal, linking.pool.isCanonical === true);
}

/**
 * Logs of upstreams, and the absence of logs, count only if each upstream still has the first followed block. One that
 * lacks it must have the last block of the range as a second upstream has it. Costs one block per upstream.
 * @throws OtherChainError, ReorgedWhileReadingError
 */
export async function requireUpstreams(
  linking: Linking,
  read: { readonly range: BlockRange; readonly upstreams: Iterable<string> },
  signal: AbortSignal,
): Promise<void> {
  const { database, chain, pool } = linking;
  if (pool.isCanonical === true) return;
  const nodes = new Set(pool.status().map(({ name }) => name));
  const mark = await readFollowedBlock(database, chain.id);
  // Invariant: PROOF-SAME-CHAIN
  for (const upstream of new Set(read.upstreams)) {
    // Logs of a source of history are checked as they are read.
    if (!nodes.has(upstream)) continue;
    const marked = mark === null ? null : await markAt(linking, mark.number, upstream, signal);
    if (mark !== null && marked !== null) {
      if (marked !== 'unknown' && marked.hash !== mark.hash) await refuse(linking, marked, mark.hash);
      continue;
    }
    const last = await blockAt(linking, read.range.to, upstream, signal);
    if (last === null) {
      await pool.checkChain(upstream, null);
      const what = `${upstream} has no block ${read.range.to}, whose logs it returned`;
      throw new ReorgedWhileReadingError({ chain: chain.key, what });
    }
    if (last !== 'unknown') await isLinkedToChain(linking, last, signal, false);
  }
}

type Look = Promise<BlockFacts | 'unknown' | null>;

/** Reads of an upstream's followed block: the running one, and the next one, which all share that wait for it. */
const looks = new WeakMap<UpstreamPool, Map<string, { running: Look; next: Look | null }>>();

/** Concurrent ranges share a call that begins after their logs were read: nodes with few calls a second count each. */
async function markAt(linking: Linking, number: number, upstream: string, signal: AbortSignal) {
  const ofPool = looks.get(linking.pool) ?? new Map<string, { running: Look; next: Look | null }>();
  looks.set(linking.pool, ofPool);
  const begin = (): Look => {
    const running = blockAt(linking, number, upstream, new AbortController().signal);
    const look = { running, next: null };
    ofPool.set(upstream, look);
    const forget = (): void => {
      if (ofPool.get(upstream) === look && look.next === null) ofPool.delete(upstream);
    };
    running.then(forget, forget);
    return running;
  };
  const look = ofPool.get(upstream);
  if (look !== undefined) look.next ??= look.running.then(begin, begin);
  return orAborted(look?.next ?? begin(), signal);
}

/**
 * Null: the upstream lacks it. `unknown`: it did not respond, which says nothing.
 * @throws ReorgedWhileReadingError if another read found that it is on another chain
 */
async function blockAt(
  { chain, pool }: Linking,
  number: number,
  upstream: string,
  signal: AbortSignal,
): Promise<BlockFacts | 'unknown' | null> {
  try {
    const options = { only: upstream, background: true, timeoutMs: SECOND_TIMEOUT_MS, signal };
    const answer = await pool.getBlock(number, options);
    return answer === null ? null : { ...answer.value.header, upstream };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ChainsteadError)) throw error;
    const isExcluded = pool.status().some(({ name, state }) => name === upstream && state === 'disabled');
    const what = `${upstream} was excluded after it returned logs`;
    if (isExcluded) throw new ReorgedWhileReadingError({ chain: chain.key, what });
    return 'unknown';
  }
}

/** Newest first; blocks that were left out part them. */
function piecesOf(blocks: readonly BlockFacts[]): BlockFacts[][] {
  const pieces: BlockFacts[][] = [];
  for (const block of blocks.toSorted((a, b) => a.number - b.number)) {
    const piece = pieces.at(-1);
    if (piece?.at(-1)?.number === block.number - 1) piece.push(block);
    else pieces.push([block]);
  }
  return pieces.reverse();
}

async function requireLinks(linking: Linking, piece: readonly BlockFacts[], isLinked: boolean): Promise<void> {
  // From the top: all blocks above the first break are linked as the last one is.
  for (let index = piece.length - 1; index > 0; index--) {
    const [below, block] = [piece[index - 1], piece[index]];
    if (
      below === undefined ||
      block === undefined ||
      block.parentHash === null ||
      block.parentHash === below.hash
    )
      continue;
    if (isLinked) await refuse(linking, below, block.parentHash);
    await dispute(linking, below, { ...below, hash: block.parentHash, upstream: block.upstream });
  }
}

/** False: nothing says so. @throws OtherChainError */
async function isLinkedToChain(
  linking: Linking,
  block: BlockFacts,
  signal: AbortSignal,
  isConfirmed: boolean,
): Promise<boolean> {
  const { database, chain } = linking;
  const stored = await readLinkedBlocks(database, chain.id, block.number);
  const [own, above] = [block.number, block.number + 1].map((number) =>
    stored.find((one) => one.number === number),
  );
  const expected = above?.parentHash ?? own?.hash ?? null;
  if (expected === block.hash) return true;
  const at = above?.parentHash ? above.number : block.number;
  // Blocks that were stored before links were required may be wrong themselves.
  if (expected !== null && (await isLinkedByParents(database, chain.id, at)))
    await refuse(linking, block, expected);
  return isConfirmed || confirmBlock(linking, block, signal);
}

/**
 * Whether a second upstream has the same block. If it has another one, a third decides.
 * @throws OtherChainError if the block is outvoted, or if there is no third
 */
export async function confirmBlock(linking: Linking, block: BlockFacts, signal: AbortSignal): Promise<boolean> {
  const asked = new Set(block.upstream === undefined ? [] : [block.upstream]);
  const second = await headerElsewhere(linking, block.number, asked, signal);
  if (second === null || second.hash === block.hash) return second !== null;
  const other = { ...block, ...second };
  const third = await headerElsewhere(linking, block.number, new Set([...asked, second.upstream]), signal);
  if (third?.hash === block.hash) {
    await blame(linking, other, block.hash);
    return true;
  }
  return third?.hash === second.hash ? refuse(linking, block, second.hash) : dispute(linking, block, other);
}

async function headerElsewhere(
  { pool }: Linking,
  number: number,
  asked: ReadonlySet<string>,
  signal: AbortSignal,
) {
  const isAnother = pool
    .status()
    .some(({ name, state }) => !asked.has(name) && (state === 'healthy' || state === 'degraded'));
  if (!isAnother) return null;
  try {
    const options = { exclude: asked, background: true, timeoutMs: SECOND_TIMEOUT_MS };
    const stop = AbortSignal.any([signal, AbortSignal.timeout(SECOND_TIMEOUT_MS)]);
    const [answer] = await pool.getHeaders([number], { ...options, signal: stop });
    return answer === undefined ? null : { number, hash: answer.value.hash, upstream: answer.upstream };
  } catch (error) {
    signal.throwIfAborted();
    // A second upstream that does not respond says nothing.
    if (error instanceof ChainsteadError) return null;
    throw error;
  }
}

async function refuse(linking: Linking, block: BlockFacts, expected: Hash): Promise<never> {
  await blame(linking, block, expected);
  throw otherChain(linking, block, { hash: expected, upstream: 'the indexed chain' });
}

/** Either may be wrong: both must have the first followed block. */
async function dispute(linking: Linking, block: BlockFacts, other: BlockFacts): Promise<never> {
  const { database, chain, pool } = linking;
  const mark = await readFollowedBlock(database, chain.id);
  for (const { upstream } of [block, other]) if (upstream !== undefined) await pool.checkChain(upstream, mark);
  throw otherChain(linking, block, other);
}

function otherChain(
  { chain }: Linking,
  { number, hash, upstream = 'an upstream' }: BlockFacts,
  other: Pick<BlockFacts, 'hash' | 'upstream'>,
): OtherChainError {
  const expected = { hash: other.hash, source: other.upstream ?? 'another upstream' };
  return new OtherChainError({ chain: chain.key, block: number, hash, upstream, expected });
}

async function blame({ pool }: Linking, { number, hash, upstream }: BlockFacts, expected: Hash): Promise<void> {
  if (upstream === undefined) return;
  pool.reportFault(upstream, 'wrong-chain', { block: number, hash, expected });
  await pool.checkChain(upstream, { number, hash: expected });
}

function lowered(run: Coverage, unlinked: readonly BlockRange[]): Coverage[] {
  if (run.proof !== 'receipts' && run.proof !== 'not-applicable') return [run];
  // Invariant: PROOF-SAME-CHAIN
  const low = intersectRanges([run.range], unlinked).map(
    (range): Coverage => ({ ...run, range, proof: 'record', reason: run.proof }),
  );
  const kept = subtractRanges([run.range], unlinked).map((range): Coverage => ({ ...run, range }));
  return [...low, ...kept].toSorted((a, b) => a.range.from - b.range.from);
}
