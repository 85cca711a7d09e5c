import type { RowOf } from '@chainstead/db/packed-rows';
import { type OWNERS, type OwnerReading, type TokenClass, UNREAD } from './token-owners-statement.ts';

export interface TokenStanding {
  readonly class: TokenClass;
  readonly isVerified: boolean;
  readonly contradictions: number;
  readonly firstBlock: number;
  readonly indexedFrom: number | null;
  readonly indexedTo: number | null;
  readonly isChainIndexed: boolean;
  readonly isBuilt: boolean;
}

export type OwnerFacts = Pick<RowOf<typeof OWNERS>, 'anchorBlock' | 'balance'> & {
  /** Null if the contract was not read, or the token adds up. */
  readonly reading: OwnerReading | null;
};

/** In Node: in SQL this took as long per row as the rest of a page. */
export function createOwnerResolver(
  token: TokenStanding,
): (owner: OwnerFacts) => { readonly isDue: boolean; readonly reported: string | null } {
  const { indexedFrom, indexedTo } = token;
  const addsUp = token.class === 'sum' || (token.class === 'new' && token.isVerified);
  const isWhole = token.isChainIndexed && indexedFrom !== null && indexedFrom <= token.firstBlock;
  const isSumBelieved = addsUp && token.contradictions === 0 && isWhole;
  // While transfers are counted, sums are incomplete; contract reads are still valid.
  const isReported = token.isBuilt || token.class === 'live';

  function readBalance({ anchorBlock, balance, reading }: OwnerFacts): string | null {
    if (token.class === 'live') return reading?.isFresh === true ? reading.said : null;
    if (token.class === 'none' || anchorBlock === UNREAD || indexedFrom === null || indexedTo === null)
      return null;
    // Every block since is indexed, and there were no movements, or transfers determine them.
    const isSound =
      anchorBlock >= indexedFrom - 1 && anchorBlock <= indexedTo && (addsUp || reading?.said === balance);
    // Invariant: BALANCE-NOT-NEGATIVE
    return isSound && !isNegative(balance) ? balance : null;
  }

  return (owner) => {
    const read = readBalance(owner);
    if (read !== null) return { isDue: false, reported: isReported ? read : null };
    // Invariant: BALANCE-NOT-NEGATIVE
    const isSum = isSumBelieved && owner.anchorBlock === UNREAD && !isNegative(owner.balance);
    return { isDue: true, reported: isSum && isReported ? owner.balance : null };
  };
}

function isNegative(balance: string): boolean {
  return balance.startsWith('-');
}
