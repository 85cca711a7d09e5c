/** Recovers the signers of so many signatures, and does nothing else. */
import { packSignatures, recoverSigners } from '@chainstead/proof/packed-signatures';

const AT_ONCE = 100;
/** An abscissa of the curve: that of its base point. Whose keys fit is of no matter. */
const ABSCISSA = Buffer.from('79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798', 'hex');

const count = Number(process.argv[2] ?? 0);
const signatures = packSignatures(
  Array.from({ length: AT_ONCE }, (_, index) => {
    const scalars = new Uint8Array(64).fill(index + 1);
    scalars.set(ABSCISSA);
    return { hash: new Uint8Array(32).fill(index + 1), scalars, parity: 0 };
  }),
);
for (let left = count; left > 0; left -= AT_ONCE) recoverSigners(signatures);
