import { type Address, type Hash, type Hex, ZERO_ADDRESS } from '@chainstead/core';
import { TRANSFER_TOPIC } from '@chainstead/events/token-events';
import { WRAPPED_COIN_DEPOSIT, WRAPPED_COIN_WITHDRAWAL } from '@chainstead/events/topics';
import { addressOf, exampleChain } from '@chainstead/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { APPROVAL_EVENTS, type ApprovalLog, approvalsIn } from '../approvals/read-approvals.ts';
import { decodeEvidence } from './decode-evidence.ts';
import { COMET_WITHDRAW, EVIDENCE_EVENTS, PAIR_BURN, PAIR_MINT, VAULT_CHANGED } from './evidence-events.ts';
import { mayReport } from './token-evidence.ts';

const [ME, BOB, ROUTER, WRAPPED] = [1, 2, 3, 4].map(addressOf) as [Address, Address, Address, Address];
const PERMIT2 = '0x000000000022d473030f116ddee9f6b43ac78ba3' as Address;
const chain = exampleChain({ wrappedNative: WRAPPED });
const REPORTING: readonly Hash[] = [
  ...[...EVIDENCE_EVENTS, PAIR_MINT, PAIR_BURN, COMET_WITHDRAW, VAULT_CHANGED].map(({ topic0 }) => topic0),
  ...[WRAPPED_COIN_DEPOSIT.topic, WRAPPED_COIN_WITHDRAWAL.topic, ...APPROVAL_EVENTS],
];

const account = fc.constantFrom(ME, BOB, ROUTER, ZERO_ADDRESS);
const wordOf = (address: Address): string => address.slice(2).padStart(64, '0');
const words = fc.array(
  fc.oneof(
    account.map(wordOf),
    fc.nat(3).map((value) => value.toString(16).padStart(64, '0')),
  ),
  { maxLength: 10 },
);

function logs(topic0: fc.Arbitrary<Hash>, maxLength: number): fc.Arbitrary<ApprovalLog[]> {
  const log = fc.record({
    address: fc.constantFrom(ROUTER, WRAPPED, PERMIT2),
    topics: fc
      .tuple(topic0, fc.array(account, { maxLength: 3 }))
      .map(([first, others]) => [first, ...others.map((one) => `0x${wordOf(one)}` as Hash)]),
    data: words.map((all): Hex => `0x${all.join('')}`),
  });
  return fc.array(log, { maxLength }).map((all) => all.map((one, index) => ({ ...one, index })));
}

/** The same token from one to many. */
function handOut(from: Address, receivers: number): ApprovalLog[] {
  return Array.from({ length: receivers }, (_, index) => {
    const topics = [TRANSFER_TOPIC, ...[from, addressOf(10 + index)].map((one) => `0x${wordOf(one)}` as Hash)];
    return { index, address: ROUTER, topics, data: `0x${'5'.padStart(64, '0')}` };
  });
}

/** In a token's format: random logs are hardly ever an approval. */
const approval: fc.Arbitrary<ApprovalLog[]> = fc
  .tuple(fc.constantFrom(...APPROVAL_EVENTS), fc.array(account, { minLength: 2, maxLength: 2 }), fc.nat(1))
  .map(([topic0, parties, value]) => [
    {
      index: 0,
      address: ROUTER,
      topics: [topic0, ...parties.map((one) => `0x${wordOf(one)}` as Hash)],
      data: `0x${value.toString(16).padStart(64, '0')}`,
    },
  ]);

test('what is told among logs is never taken to be missing', () => {
  const kinds = [
    logs(fc.constantFrom(...REPORTING), 2),
    logs(fc.constantFrom(TRANSFER_TOPIC, ...REPORTING), 4),
    fc.tuple(account, fc.nat(14)).map(([from, receivers]) => handOut(from, receivers)),
    approval,
  ];
  const reported = { evidence: 0, approvals: 0 };
  fc.assert(
    fc.property(fc.oneof(...kinds), (all) => {
      const { ofAccount, ofAll } = decodeEvidence({ from: ME, to: ROUTER, logs: all }, chain);
      if (ofAccount.size > 0 || ofAll.size > 0) {
        reported.evidence++;
        expect(mayReport(all).evidence).toBe(true);
      }
      if (approvalsIn(all, chain).length > 0) {
        reported.approvals++;
        expect(mayReport(all).approvals).toBe(true);
      }
    }),
    { numRuns: 3_000 },
  );
  expect(Math.min(reported.evidence, reported.approvals)).toBeGreaterThan(0);
});

test('transfers of some tokens, and events that nothing is read from, tell nothing', () => {
  const unknown = `0x${'5'.repeat(64)}` as Hash;
  const topics = [TRANSFER_TOPIC, `0x${wordOf(ME)}` as Hash, `0x${wordOf(BOB)}` as Hash];
  const nfts = Array.from({ length: 20 }, () => ({ topics: [...topics, unknown] }));
  const nothing = { evidence: false, approvals: false };
  expect(mayReport([])).toEqual(nothing);
  expect(mayReport([{ topics }, { topics: [unknown] }, { topics: [] }, ...nfts])).toEqual(nothing);
  expect(mayReport(Array.from({ length: 9 }, () => ({ topics })))).toEqual(nothing);
  expect(mayReport(Array.from({ length: 10 }, () => ({ topics })))).toEqual({ evidence: true, approvals: false });
  expect(mayReport(APPROVAL_EVENTS.map((topic0) => ({ topics: [topic0] })))).toEqual({
    evidence: false,
    approvals: true,
  });
});
