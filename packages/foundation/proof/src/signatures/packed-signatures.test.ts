import secp256k1 from 'secp256k1';
import { describe, expect, test } from 'vitest';
import { packSignatures, recoverSigners, signer, signerAt } from './packed-signatures.ts';

const bytes = (byte: number, count: number): Uint8Array => new Uint8Array(count).fill(byte);

function signatureOf(number: number) {
  const hash = bytes(number + 1, 32);
  const { signature, recid } = secp256k1.ecdsaSign(hash, bytes(number + 17, 32));
  return { hash, scalars: signature, parity: recid === 0 ? 0 : 1 } as const;
}

describe('packed signatures', () => {
  test('give the signers that each gives alone, in their order', () => {
    const signatures = Array.from({ length: 40 }, (_, number) => signatureOf(number));
    expect(new Set(signatures.map(({ parity }) => parity))).toEqual(new Set([0, 1]));
    const signers = recoverSigners(packSignatures(signatures));
    expect(signatures.map((_, index) => signerAt(signers, index))).toEqual(signatures.map(signer));
    expect(new Set(signatures.map(signer)).size).toBe(40);
  });

  test('that no key gives stand beside others', () => {
    const none = { hash: bytes(1, 32), scalars: bytes(0xff, 64), parity: 0 } as const;
    const signers = recoverSigners(packSignatures([none, signatureOf(3), none]));
    expect([0, 1, 2].map((index) => signerAt(signers, index))).toEqual([null, signer(signatureOf(3)), null]);
  });

  test('of nobody are nothing', () => {
    expect(recoverSigners(packSignatures([]))).toHaveLength(0);
  });
});
