import type { RowOf } from '@chainstead/db/packed-rows';
import { type OWNERS, type OwnerReading, type TokenClass, UNREAD } from './token-owners-statement.ts';

/** The data about a token that determines which balances of its holders can be shown. */
export interface ReportedToken {
  readonly class: TokenClass;
  readonly isVerified: boolean;
  /** Contract reads that differed from the sums of transfers. */
  readonly contradictions: number;
  /** The token has no data below it. */
  readonly firstBlock: number;
  /** The unbroken block range with indexed transfers that ends at the newest block; null for none. */
  readonly indexedFrom: number | null;
  readonly indexedTo: number | null;
  /** Whether the chain itself has indexed blocks. */
  readonly isChainIndexed: boolean;
  /** Whether all indexed transfers are counted. */
  readonly isBuilt: boolean;
}

/** The balance to show for an account. */
export interface ResolvedOwner {
  /** Whether the contract must be read. */
  readonly isDue: boolean;
  /** Base units; null: unknown. */
  readonly reported: string | null;
}

/** The stored data of an account. */
export interface StoredOwner extends Pick<RowOf<typeof OWNERS>, 'anchorBlock' | 'balance'> {
  /** Null if the contract was not read, or the token is known to add up. */
  readonly reading: OwnerReading | null;
}

/**
 * Creates the function that determines the balance to show for an account (docs/concepts/balances.md). In Node, because
 * in SQL this took as long per row as the rest of a page. An account has either a contract read with its later
 * movements, or neither; then its balance is the sum of all transfers.
 */
export function createOwnerResolver(token: ReportedToken): (owner: StoredOwner) => ResolvedOwner {
  const { indexedFrom, indexedTo } = token;
  const addsUp = token.class === 'sum' || (token.class === 'new' && token.isVerified);
  const isWhole = token.isChainIndexed && indexedFrom !== null && indexedFrom <= token.firstBlock;
  const isSumBelieved = addsUp && token.contradictions === 0 && isWhole;
  // While transfers are being counted, stored sums are incomplete; contract reads of tokens that don't add up are still
  // valid.
  const isReported = token.isBuilt || token.class === 'live';

  function readBalance({ anchorBlock, balance, reading }: StoredOwner): string | null {
    if (token.class === 'live') return reading?.isFresh === true ? reading.said : null;
    if (token.class === 'none' || anchorBlock === UNREAD || indexedFrom === null || indexedTo === null) return null;
    // Every block since the read is indexed, and there were no movements, or transfers determine them.
    const isSound = anchorBlock >= indexedFrom - 1 && anchorBlock <= indexedTo && (addsUp || reading?.said === balance);
    return isSound && !isNegative(balance) ? balance : null;
  }

  return (owner) => {
    const read = readBalance(owner);
    if (read !== null) return { isDue: false, reported: isReported ? read : null };
    const isSum = isSumBelieved && owner.anchorBlock === UNREAD && !isNegative(owner.balance);
    return { isDue: true, reported: isSum && isReported ? owner.balance : null };
  };
}

/** For decimal digits. */
function isNegative(balance: string): boolean {
  return balance.startsWith('-');
}
