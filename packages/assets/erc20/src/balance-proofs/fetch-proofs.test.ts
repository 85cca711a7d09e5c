import { silentLogger } from '@chainstead/core';
import { type NodeReadQueue, StateUnavailableError } from '@chainstead/node-reads/requests';
import { addressOf, exampleChain, hashOf } from '@chainstead/testkit';
import { describe, expect, it } from 'vitest';
import {
  BALANCES_PROVEN,
  type BalanceShown,
  fetchProofs,
  type ProofAnswer,
  type ProofQuestion,
} from './fetch-proofs.ts';

const chain = exampleChain();
const wallet = addressOf(1);
const block = { number: 7, hash: hashOf(1, 7) };

/** Balances of tokens 1, 2, …, in reverse. */
function shown(count: number, of: BalanceShown['block'] = block): BalanceShown[] {
  return Array.from({ length: count }, (_, index) => ({
    token: addressOf(count - index),
    balance: BigInt(index),
    block: of,
  }));
}

async function ask(
  balances: readonly BalanceShown[],
  answer: (question: ProofQuestion) => ProofAnswer | null = ({ balances: requested }) =>
    requested.map(({ token }) => ({ token, doubt: null, instead: null })),
) {
  const requested: ProofQuestion[] = [];
  const nodeReads: NodeReadQueue = {
    async request(_chain, kind, question) {
      const read = BALANCES_PROVEN.question.parse(question);
      requested.push(read);
      const given = answer(read);
      return given === null ? null : kind.answer.parse(given);
    },
  };
  const proofs = await fetchProofs({ nodeReads, logger: silentLogger() }, chain, { wallet, balances });
  return { requested, proofs, reasons: Map.groupBy(proofs.values(), ({ reason }) => reason) };
}

describe('proofs of what an answer shows', () => {
  it('are asked for of the first fifty balances, ten in a question', async () => {
    const { requested, proofs, reasons } = await ask(shown(60));
    expect(requested.map(({ balances }) => balances.length)).toEqual([10, 10, 10, 10, 10]);
    expect([reasons.get(null)?.length, reasons.get('too-many')?.length]).toEqual([50, 10]);
    expect(proofs.get(addressOf(60))).toEqual({ reason: null, block: 7, instead: null });
    expect(proofs.get(addressOf(10))).toEqual({ reason: 'too-many', block: null, instead: null });
  });

  it('are asked for in the same reads whatever the order', async () => {
    const [one, other] = [await ask(shown(25)), await ask(shown(25).toReversed())];
    expect(one.requested).toEqual(other.requested);
  });

  it('are of the block of each balance', async () => {
    const later = { number: 9, hash: hashOf(1, 9) };
    const { requested, proofs } = await ask([...shown(1), { token: addressOf(5), balance: 3n, block: later }]);
    expect(requested.map(({ block: of }) => of)).toEqual([block, later]);
    expect(proofs.get(addressOf(5))).toEqual({ reason: null, block: 9, instead: null });
  });

  it('are not asked for at a block that is not known, and those do not count', async () => {
    const { requested, reasons } = await ask([...shown(3, null), ...shown(50)]);
    expect(requested).toHaveLength(5);
    expect(reasons.has('too-many')).toBe(false);
    expect((await ask(shown(2, null))).reasons.get('block-unknown')).toHaveLength(2);
  });

  it('say what the state says against a balance', async () => {
    const { proofs } = await ask(shown(1), () => [{ token: addressOf(1), doubt: 'contradicted', instead: null }]);
    expect(proofs.get(addressOf(1))).toEqual({ reason: 'contradicted', block: null, instead: null });
  });

  it('have what is proven instead where another upstream says so too', async () => {
    const { proofs } = await ask(shown(1), () => [{ token: addressOf(1), doubt: null, instead: '12' }]);
    expect(proofs.get(addressOf(1))).toEqual({ reason: null, block: 7, instead: 12n });
  });

  it('are missing where no answer comes, or none in time', async () => {
    expect((await ask(shown(2), () => null)).reasons.get('not-in-time')).toHaveLength(2);
    const failing = ask(shown(2), () => {
      throw new StateUnavailableError('The nodes gave no answer');
    });
    expect((await failing).reasons.get('not-in-time')).toHaveLength(2);
    const broken = ask(shown(2), () => {
      throw new TypeError('broken');
    });
    await expect(broken).rejects.toThrow('broken');
  });
});
