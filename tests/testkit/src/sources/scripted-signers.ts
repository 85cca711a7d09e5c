import type { RecoverSigners } from '@chainstead/proof';
import type { SourceBlock } from '../nodes/chain-source.ts';

const HASH_BYTES = 32;
const SCALAR_BYTES = 32;
const SIGNATURE_BYTES = HASH_BYTES + 2 * SCALAR_BYTES + 1;
const SIGNER_BYTES = 20;

/** Senders of a scripted chain, whose signatures are random. For sources that recover them. */
export function scriptedSigners(blocks: Iterable<SourceBlock>): RecoverSigners {
  const senders = new Map<string, string>();
  for (const { transactions } of blocks)
    for (const { r, from } of transactions)
      senders.set(
        String(r)
          .slice(2)
          .padStart(2 * SCALAR_BYTES, '0'),
        String(from).slice(2),
      );
  return async (packed) => {
    const signers = Buffer.alloc((packed.length / SIGNATURE_BYTES) * SIGNER_BYTES);
    for (let index = 0; index * SIGNATURE_BYTES < packed.length; index++) {
      const start = index * SIGNATURE_BYTES + HASH_BYTES;
      const r = Buffer.from(packed.subarray(start, start + SCALAR_BYTES)).toString('hex');
      signers.write(senders.get(r) ?? '', index * SIGNER_BYTES, 'hex');
    }
    return signers;
  };
}
