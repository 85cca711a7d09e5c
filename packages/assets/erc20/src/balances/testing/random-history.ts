/** Random token chains, for properties of balances. */
import fc from 'fast-check';
import type { BalanceStage } from './balance-stage.ts';
import type { Change, Move, TokenChain } from './token-chain.ts';

/** New blocks, or blocks that replace others. */
export type OnChain =
  | { readonly kind: 'mine'; readonly moves: readonly Move[]; readonly changes: readonly Change[] }
  | { readonly kind: 'reorg'; readonly depth: number; readonly blocks: readonly (readonly Move[])[] };

/** @param someChanges balance changes without a transfer in mined blocks. Default: none */
export function someOnChain(
  someMoves: fc.Arbitrary<Move[]>,
  someChanges: fc.Arbitrary<Change[]> = fc.constant([]),
): fc.Arbitrary<OnChain> {
  return fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('mine' as const), moves: someMoves, changes: someChanges }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('reorg' as const),
        depth: fc.integer({ min: 1, max: 3 }),
        blocks: fc.array(someMoves, { minLength: 4, maxLength: 5 }),
      }),
    },
  );
}

/** Time passes. */
export const someAge = fc.record({ kind: fc.constant('age' as const), hours: fc.constantFrom(1, 25) });
/** The process that works in the next step is killed in the middle of it. */
export const someKill = fc.record({
  kind: fc.constant('kill' as const),
  statements: fc.integer({ min: 0, max: 25 }),
});

export interface OnChainOptions {
  /** The first followed block: earlier blocks stay. */
  readonly firstFollowed: number;
  /** Whether a move needs no sender balance. */
  readonly isGiven: (move: Move) => boolean;
}

/** Mines or reorganizes according to the step, limited to moves that the senders can afford. */
export async function takeOnChain(
  stage: Pick<BalanceStage, 'tokens' | 'mine' | 'reorg'>,
  step: OnChain,
  { firstFollowed, isGiven }: OnChainOptions,
): Promise<void> {
  const { tokens } = stage;
  const head = tokens.head.number;
  if (step.kind === 'mine') {
    await stage.mine(affordable(tokens, head, step.moves, isGiven), step.changes);
    return;
  }
  const ancestor = Math.max(firstFollowed, head - step.depth);
  if (ancestor >= head) return;
  // Only the first block of a branch moves existing balances.
  const [first = [], ...others] = step.blocks;
  const branch = [affordable(tokens, ancestor, first, isGiven), ...others.map((moves) => moves.filter(isGiven))];
  await stage.reorg(ancestor, branch);
}

/** Honest contracts refuse to send more than the balance. */
function affordable(
  tokens: TokenChain,
  after: number,
  moves: readonly Move[],
  isGiven: OnChainOptions['isGiven'],
): Move[] {
  const spent = new Map<string, bigint>();
  return moves.map((move) => {
    const key = `${move.token} ${move.from}`;
    const held = tokens.balance(move.token, move.from, after) - (spent.get(key) ?? 0n);
    const value = isGiven(move) || move.value <= held ? move.value : held;
    spent.set(key, (spent.get(key) ?? 0n) + value);
    return { ...move, value };
  });
}
