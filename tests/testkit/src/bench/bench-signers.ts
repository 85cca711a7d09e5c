import { createHash } from 'node:crypto';
import { type Address, type Hash, type Hex, keccak256Hex, parseAddress } from '@chainstead/core';
import { encodeTransaction, orderedTrieRoot, type TransactionJson } from '@chainstead/proof';
import secp256k1 from 'secp256k1';
import { keccak256, serializeTransaction } from 'viem';

/** An account of a benchmark's chain that signs its transactions. */
interface Signer {
  readonly key: Buffer;
  readonly address: Address;
}

/** What is signed, and what every other field of it is. */
export interface SignedCall {
  readonly chainId: number;
  readonly to: Address;
  readonly input: Hex;
  readonly gas: bigint;
  readonly gasPrice: bigint;
}

/** A transaction that proves itself. */
export interface SignedTransaction {
  readonly hash: Hash;
  readonly from: Address;
  /** The members of its JSON that say what was signed. */
  readonly fields: TransactionJson;
  readonly encoded: Buffer;
}

/** Signs with one account after the other; each counts its nonces. By the compiled curve: a long chain has hundreds of thousands of signatures. */
export function createBenchSigners(seed: number, count: number): (call: SignedCall) => SignedTransaction {
  const signers = Array.from({ length: count }, (_, index) => createSigner(`${seed} ${index}`));
  let next = 0;
  return ({ chainId, to, input, gas, gasPrice }) => {
    const signer = signers[next % count] ?? createSigner('');
    const nonce = Math.floor(next / count);
    next += 1;
    const unsigned = serializeTransaction({
      ...({ type: 'eip1559', chainId, nonce, gas, to, value: 0n, data: input } as const),
      ...{ maxFeePerGas: gasPrice, maxPriorityFeePerGas: 1n },
    });
    const { signature, recid } = secp256k1.ecdsaSign(keccak256(unsigned, 'bytes'), signer.key);
    const part = (from: number): Hex =>
      `0x${Buffer.from(signature)
        .subarray(from, from + 32)
        .toString('hex')
        .replace(/^0+/, '')}`;
    const quantity = (value: bigint | number): Hex => `0x${value.toString(16)}`;
    const fields = {
      ...{
        type: '0x2',
        chainId: quantity(chainId),
        nonce: quantity(nonce),
        gas: quantity(gas),
        to,
        value: '0x0',
      },
      ...{
        gasPrice: quantity(gasPrice),
        maxFeePerGas: quantity(gasPrice),
        maxPriorityFeePerGas: '0x1',
        accessList: [],
      },
      ...{ input, r: part(0), s: part(32), yParity: quantity(recid), v: quantity(recid) },
    };
    const encoded = encodeTransaction(fields);
    if (encoded === null) throw new TypeError('A transaction of a benchmark could not be encoded');
    return { hash: keccak256Hex(encoded), from: signer.address, fields, encoded };
  };
}

/** What the header says of them. */
export function signedRoot(transactions: readonly SignedTransaction[]): Hex {
  return orderedTrieRoot(transactions.map(({ encoded }) => encoded));
}

function createSigner(seed: string): Signer {
  const key = createHash('sha256').update(`bench-signer/${seed}`).digest();
  const point = Buffer.from(secp256k1.publicKeyCreate(key, false)).subarray(1);
  return { key, address: parseAddress(`0x${keccak256Hex(point).slice(-40)}`) };
}
