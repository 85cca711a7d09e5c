import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { readBlockRuns } from '@chainstead/pages';
import { erc20Transfers } from '../transfers/dataset.ts';
import type { BalanceSpan, Holding } from './holding.ts';
import { type MovedBlock, readMovedBlocks, readMovedSums } from './moved-sums.ts';
import { readStoredAnchors, type StoredAnchor } from './stored-anchors.ts';

interface BalanceSince {
  readonly block: number;
  /** Unix seconds. */
  readonly since: number;
  readonly balance: bigint;
}

export interface KnownSeries {
  readonly of: 'known';
  readonly before: bigint;
  /** Oldest first, one per block with transfers. */
  readonly changes: readonly BalanceSince[];
  readonly isOld: boolean;
}

/** `moved`: the next read shows whether transfers add up. `uncovered`: not indexed. */
export type BalanceSeries = KnownSeries | { readonly of: 'unread' | 'moved' | 'uncovered' | 'live' };

/** In order: the contract's value at a block, moved by transfers. */
export async function readBalanceSeries(
  database: ReadDatabase,
  chain: Chain,
  holdings: readonly Holding[],
  span: BalanceSpan,
): Promise<readonly BalanceSeries[]> {
  if (holdings.length === 0) return [];
  const runs = await readBlockRuns(database, chain.id, [erc20Transfers.name], span.end);
  const run = runs.get(erc20Transfers.name);
  // The first transfers of a chain are those of its first block.
  if (run === undefined || run.firstBlock > Math.max(span.start + 1, chain.firstBlock))
    return holdings.map(() => ({ of: 'uncovered' }));
  const anchors = await readStoredAnchors(database, chain, holdings);
  const isUsable = ({ block, value, isLive }: StoredAnchor): boolean =>
    value !== null && !isLive && run.firstBlock <= block + 1 && block <= run.lastBlock;
  const gaps = anchors.filter(isUsable).map((anchor) => ({ ...anchor, ...gapBetween(anchor, span) }));
  const [moved, sums] = await Promise.all([
    readMovedBlocks(database, chain, gaps, span),
    readMovedSums(database, chain, gaps),
  ]);
  const known = new Map(
    gaps.map((anchor, index) => [
      keyOf(anchor),
      { moves: moved[index] ?? [], gap: sums[index] ?? { sum: 0n, moves: 0 } },
    ]),
  );
  const byKey = new Map(anchors.map((anchor) => [keyOf(anchor), anchor]));
  return holdings.map((holding): BalanceSeries => {
    const anchor = byKey.get(keyOf(holding));
    if (anchor?.isLive === true) return { of: 'live' };
    const rows = known.get(keyOf(holding));
    // Reads happen at the newest block: of no use to a run that ends earlier.
    if (anchor === undefined || anchor.value === null || rows === undefined)
      return { of: run.isNewest ? 'unread' : 'uncovered' };
    const hasMoved = rows.moves.length > 0 || rows.gap.moves > 0;
    if (!anchor.addsUp && hasMoved) return { of: 'moved' };
    const series = moveAnchor({ block: anchor.block, value: anchor.value }, span, rows.gap.sum, rows.moves);
    return series === null ? { of: 'live' } : { of: 'known', ...series, isOld: anchor.isOld };
  });
}

/**
 * Moves the contract's value to a span's start. @returns null if a balance would be below zero
 * @param gap base units received minus sent between the value's block and the span
 */
export function moveAnchor(
  { block, value }: { readonly block: number; readonly value: bigint },
  { start, end }: BalanceSpan,
  gap: bigint,
  moves: readonly MovedBlock[],
): Pick<KnownSeries, 'before' | 'changes'> | null {
  const untilAnchor = moves.reduce((sum, move) => (move.block <= block ? sum + move.delta : sum), 0n);
  const before = block <= start ? value + gap : value - untilAnchor - (block > end ? gap : 0n);
  let balance = before;
  const changes = moves.map(({ block: at, since, delta }) => {
    balance += delta;
    return { block: at, since, balance };
  });
  return before < 0n || changes.some((change) => change.balance < 0n) ? null : { before, changes };
}

/** Exclusive and inclusive; equal: no blocks lie between. */
function gapBetween({ block }: StoredAnchor, { start, end }: BalanceSpan): { after: number; to: number } {
  if (block < start) return { after: block, to: start };
  return block > end ? { after: end, to: block } : { after: block, to: block };
}

function keyOf({ account, token }: Holding): string {
  return `${account} ${token}`;
}
