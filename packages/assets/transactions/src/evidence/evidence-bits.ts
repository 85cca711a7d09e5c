import { EVIDENCE, type Evidence } from './evidence.ts';

export interface StoredEvidence {
  readonly evidence: ReadonlySet<Evidence>;
  readonly approvesTokens: boolean;
  /** All NFTs, or by Permit2. */
  readonly approvesOtherwise: boolean;
}

const APPROVES_TOKENS = 1 << 29;
export const APPROVES_OTHERWISE = 1 << 30;

export function evidenceBits({ evidence, approvesTokens, approvesOtherwise }: StoredEvidence): number {
  const approvals = (approvesTokens ? APPROVES_TOKENS : 0) | (approvesOtherwise ? APPROVES_OTHERWISE : 0);
  return EVIDENCE.reduce((bits, kind, index) => bits | (evidence.has(kind) ? 1 << index : 0), approvals);
}

export function readEvidenceBits(bits: number): StoredEvidence {
  return {
    evidence: new Set(EVIDENCE.filter((_, index) => (bits & (1 << index)) !== 0)),
    approvesTokens: (bits & APPROVES_TOKENS) !== 0,
    approvesOtherwise: (bits & APPROVES_OTHERWISE) !== 0,
  };
}
