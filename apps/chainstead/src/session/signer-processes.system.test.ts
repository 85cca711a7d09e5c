import { packSignatures, recoverSigners } from '@chainstead/proof/packed-signatures';
import { afterEach, describe, expect, test } from 'vitest';
import { createSignerProcesses, SignerProcessError, type SignerProcesses } from './signer-processes.ts';

/** Points of the curve with small abscissas: their keys are unknown, but each gives another account. */
function signatures(count: number): Uint8Array {
  return packSignatures(
    Array.from({ length: count }, (_, index) => {
      const hash = new Uint8Array(32).fill(7);
      new DataView(hash.buffer).setUint32(0, index + 1);
      const scalars = new Uint8Array(64).fill(1);
      // An abscissa of the curve: that of its base point.
      scalars.set(Buffer.from('79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798', 'hex'));
      return { hash, scalars, parity: (index % 2) as 0 | 1 };
    }),
  );
}

describe('processes that recover signers', () => {
  let processes: SignerProcesses;
  afterEach(() => processes.close());

  test.each([0, 1, 31, 64, 100, 257])(
    'give the signers of %i signatures in their order, whichever process had them',
    async (count) => {
      processes = createSignerProcesses(3);
      const expected = recoverSigners(signatures(count));
      expect(new Set(Buffer.from(expected).toString('hex').match(/.{40}/g) ?? []).size).toBe(count);
      expect(Buffer.from(await processes.recover(signatures(count)))).toEqual(Buffer.from(expected));
    },
  );

  test('answer many at once, each with its own', async () => {
    processes = createSignerProcesses(2);
    const counts = Array.from({ length: 30 }, (_, number) => (number * 13) % 120);
    const answers = await Promise.all(counts.map((count) => processes.recover(signatures(count))));
    for (const [index, count] of counts.entries())
      expect(Buffer.from(answers[index] ?? [])).toEqual(Buffer.from(recoverSigners(signatures(count))));
  });

  test('fail what is under way when they end, and go on with new ones', async () => {
    processes = createSignerProcesses(2);
    const underWay = processes.recover(signatures(2_000));
    const failed = expect(underWay).rejects.toBeInstanceOf(SignerProcessError);
    await processes.close();
    await failed;
    expect(Buffer.from(await processes.recover(signatures(70)))).toEqual(
      Buffer.from(recoverSigners(signatures(70))),
    );
  });
});
