import type { Address } from '@chainstead/core';
import {
  packSignatures,
  type RecoverSigners,
  recoverSigners,
  signerAt,
} from '../signatures/packed-signatures.ts';
import { signatureOf } from './recover-sender.ts';
import type { TransactionJson } from './transaction-fields.ts';

/** Null: unsigned, or no key matches. @param recover @default here */
export async function recoverSenders(
  transactions: readonly TransactionJson[],
  recover: RecoverSigners = async (signatures) => recoverSigners(signatures),
): Promise<readonly (Address | null)[]> {
  const signatures = transactions.map(signatureOf);
  const present = signatures.filter((signature) => signature !== null);
  if (present.length === 0) return signatures.map(() => null);
  const signers = await recover(packSignatures(present));
  let index = 0;
  return signatures.map((signature) => (signature === null ? null : signerAt(signers, index++)));
}
