import { EVIDENCE, type Evidence } from './evidence.ts';

/** Stored facts from a transaction's logs about an account. */
export interface StoredEvidence {
  readonly evidence: ReadonlySet<Evidence>;
  /** Whether the account approved amounts of ERC-20 tokens. */
  readonly approvesTokens: boolean;
  /** Whether it gave another approval: all NFTs of a contract, or by Permit2. */
  readonly approvesOtherwise: boolean;
}

const APPROVES_TOKENS = 1 << 29;
export const APPROVES_OTHERWISE = 1 << 30;

/** Returns the column `evidence` of an account's row: one bit per kind of evidence. */
export function evidenceBits({ evidence, approvesTokens, approvesOtherwise }: StoredEvidence): number {
  const approvals = (approvesTokens ? APPROVES_TOKENS : 0) | (approvesOtherwise ? APPROVES_OTHERWISE : 0);
  return EVIDENCE.reduce((bits, one, place) => bits | (evidence.has(one) ? 1 << place : 0), approvals);
}

/** Decodes the bits of {@link evidenceBits}. */
export function readEvidenceBits(bits: number): StoredEvidence {
  return {
    evidence: new Set(EVIDENCE.filter((_, place) => (bits & (1 << place)) !== 0)),
    approvesTokens: (bits & APPROVES_TOKENS) !== 0,
    approvesOtherwise: (bits & APPROVES_OTHERWISE) !== 0,
  };
}
