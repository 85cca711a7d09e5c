import type { Chain } from '@chainstead/chains';
import { type Bind, expectedTrue } from '@chainstead/db';
import { coverage, fromDateBound, isComplete, toDateBound } from './block-span.ts';

/** Which blocks a page may show. Every bound that is not null applies; blocks and times are inclusive. */
export interface PageBounds {
  readonly fromBlock: number | null;
  readonly toBlock: number | null;
  readonly fromDate: Date | null;
  readonly toDate: Date | null;
  /** The newest block at the first request of a run: what arrived later stays out. */
  readonly pinnedBlock: number | null;
}

/** The bounds in SQL, over columns `block_number` and `block_timestamp`. */
export interface BoundsInSql {
  /** For the statement's `WITH`: those of the dates, and `covered` with `indexed_from` and `indexed_to`. */
  readonly ctes: readonly string[];
  readonly lower: readonly string[];
  readonly upper: readonly string[];
  /** Whether all blocks of the bounds are indexed; reads `covered`. */
  readonly complete: string;
}

/** @param dataset whose coverage counts */
export function boundsInSql(
  chain: Chain,
  chainId: string,
  dataset: string,
  bounds: PageBounds,
  bind: Bind,
): BoundsInSql {
  const bound = (value: unknown): string | null => (value === null ? null : bind(value));
  const fromDate = bound(bounds.fromDate);
  const toDate = bound(bounds.toDate);
  const fromBlock = bound(bounds.fromBlock);
  const toBlock = bound(bounds.toBlock);
  const pinned = bound(bounds.pinnedBlock);
  // A block number that was asked for counts as asked; a date, a pin and the lack of any end at what there was to know.
  const span = {
    lowest: `greatest(${listed([fromBlock, fromDate && '(SELECT known_block FROM from_date)', bind(chain.firstBlock)])})`,
    highest: `coalesce(${listed([toBlock, `least(${listed([toDate && '(SELECT known_block FROM to_date)', pinned, 'NULL'])})`, 'covered.indexed_to'])})`,
  };
  return {
    ctes: [
      ...(fromDate === null ? [] : [fromDateBound(chainId, fromDate)]),
      ...(toDate === null ? [] : [toDateBound(chainId, toDate)]),
      coverage(chainId, `'${dataset}'`),
    ],
    lower: [
      ...(fromBlock === null ? [] : [`block_number >= ${fromBlock}`]),
      ...(fromDate === null ? [] : ['block_number >= (SELECT block FROM from_date)', timeTest('>=', fromDate)]),
    ],
    upper: [
      ...(toBlock === null ? [] : [`block_number <= ${toBlock}`]),
      ...(pinned === null ? [] : [`block_number <= ${pinned}`]),
      ...(toDate === null ? [] : ['block_number <= (SELECT block FROM to_date)', timeTest('<=', toDate)]),
    ],
    complete: isComplete(span),
  };
}

function timeTest(operator: '<=' | '>=', date: string): string {
  return expectedTrue(`block_timestamp ${operator} ${date}`);
}

function listed(blocks: readonly (string | null)[]): string {
  return blocks.flatMap((block) => (block === null ? [] : [`${block}::bigint`])).join(', ');
}
