import { EVIDENCE, type Evidence } from './evidence.ts';

/** What is stored of a transaction's logs beside an account. */
export interface StoredEvidence {
  readonly evidence: ReadonlySet<Evidence>;
  /** Whether the account approved amounts of ERC-20 tokens. */
  readonly approvesTokens: boolean;
  /** Whether it approved something else: all NFTs of a contract, or by Permit2. */
  readonly approvesOtherwise: boolean;
}

/** Set in every row whose transaction's logs were read for it: one without it was stored before they were, and says nothing of them. */
const IS_READ = 1;
/** SQL that holds of such rows. */
export const IS_UNREAD = `evidence & ${IS_READ} = 0`;
const APPROVES_TOKENS = 1 << 29;
export const APPROVES_OTHERWISE = 1 << 30;

/** The column `evidence` of an account's row: a bit for each that is said, from the second on. */
export function evidenceBits({ evidence, approvesTokens, approvesOtherwise }: StoredEvidence): number {
  const approvals = (approvesTokens ? APPROVES_TOKENS : 0) | (approvesOtherwise ? APPROVES_OTHERWISE : 0);
  return EVIDENCE.reduce((bits, one, place) => bits | (evidence.has(one) ? 2 << place : 0), IS_READ | approvals);
}

/** What {@link evidenceBits} made of it; null for a row that was stored before the logs were read for it. */
export function readEvidenceBits(bits: number): StoredEvidence | null {
  if ((bits & IS_READ) === 0) return null;
  return {
    evidence: new Set(EVIDENCE.filter((_, place) => (bits & (2 << place)) !== 0)),
    approvesTokens: (bits & APPROVES_TOKENS) !== 0,
    approvesOtherwise: (bits & APPROVES_OTHERWISE) !== 0,
  };
}
