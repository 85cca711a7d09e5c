import type { RowOf } from '@chainstead/db/packed-rows';
import { type OWNERS, type OwnerReading, type TokenClass, UNREAD } from './token-owners-statement.ts';

/** What is known of a token, as far as it decides what can be shown of who holds it. */
export interface ToldToken {
  readonly class: TokenClass;
  readonly isVerified: boolean;
  /** Readings that differed from what transfers add up to. */
  readonly contradictions: number;
  /** Below it there is nothing of the token. */
  readonly firstBlock: number;
  /** The unbroken run of blocks that ends with the newest one of which its transfers are known; nulls for none. */
  readonly indexedFrom: number | null;
  readonly indexedTo: number | null;
  /** Whether the chain has blocks of its own. */
  readonly isChainIndexed: boolean;
  /** Whether its transfers are counted: all that are indexed. */
  readonly isBuilt: boolean;
}

/** What can be shown of an account. */
export interface ToldOwner {
  /** Whether the contract is to be asked. */
  readonly isDue: boolean;
  /** Base units; null: nothing can be. */
  readonly told: string | null;
}

/** What is kept of an account. */
export interface KeptOwner extends Pick<RowOf<typeof OWNERS>, 'anchorBlock' | 'balance'> {
  /** Null where the contract was not asked, and where the token is known to add up. */
  readonly reading: OwnerReading | null;
}

/**
 * Decides what can be shown of accounts (docs/balances.md). In Node: told for each row in SQL, it took Postgres as long as all else of a page.
 * Of an account there is either a reading, and what has moved since, or neither of them; then its balance is the sum of all its transfers.
 */
export function createOwnerTeller(token: ToldToken): (owner: KeptOwner) => ToldOwner {
  const { indexedFrom, indexedTo } = token;
  const addsUp = token.class === 'sum' || (token.class === 'new' && token.isVerified);
  const isWhole = token.isChainIndexed && indexedFrom !== null && indexedFrom <= token.firstBlock;
  const isSumBelieved = addsUp && token.contradictions === 0 && isWhole;
  // While transfers are being counted, what is kept of accounts tells nothing; what contracts that don't add up said does.
  const isTold = token.isBuilt || token.class === 'live';

  function readBalance({ anchorBlock, balance, reading }: KeptOwner): string | null {
    if (token.class === 'live') return reading?.isFresh === true ? reading.said : null;
    if (token.class === 'none' || anchorBlock === UNREAD || indexedFrom === null || indexedTo === null) return null;
    // Every block from the reading on is indexed, and nothing has moved, or transfers tell what has.
    const isSound = anchorBlock >= indexedFrom - 1 && anchorBlock <= indexedTo && (addsUp || reading?.said === balance);
    return isSound && !isNegative(balance) ? balance : null;
  }

  return (owner) => {
    const read = readBalance(owner);
    if (read !== null) return { isDue: false, told: isTold ? read : null };
    const isSum = isSumBelieved && owner.anchorBlock === UNREAD && !isNegative(owner.balance);
    return { isDue: true, told: isSum && isTold ? owner.balance : null };
  };
}

/** Of digits. */
function isNegative(balance: string): boolean {
  return balance.startsWith('-');
}
