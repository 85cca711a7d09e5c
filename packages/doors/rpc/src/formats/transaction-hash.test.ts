import { expect, test } from 'vitest';
import { transactionHash } from './standard-form.ts';

test('a legacy transaction hashes as EIP-155 shows', () => {
  const raw =
    '0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83';
  expect(transactionHash(raw)).toBe('0x33469b22e9f636356c4160a87eb19df52b7412e8eac32a4a55ffe88ea8350788');
});

test('blobs that a transaction is sent with are not part of its hash', () => {
  // Type 3, a list of one item: the short form, as in blocks, and the form with blobs, commitments and proofs.
  const body = 'c3010203';
  const alone = transactionHash(`0x03${body}`);
  expect(transactionHash(`0x03c7${body}820405c0`.replace('c7', 'c8'))).toBe(alone);
  expect(alone).not.toBeNull();
});

test.each(['0x71c0', '0x7f', '0x', '0xabc', 'zz', 5, null])('%j has no hash that can be told', (raw) => {
  expect(transactionHash(raw)).toBeNull();
});
