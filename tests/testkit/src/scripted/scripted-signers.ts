import { type Address, type Hex, keccak256Hex, parseAddress } from '@chainstead/core';
import secp256k1 from 'secp256k1';
import { TestkitError } from '../testkit-error.ts';
import type { Signature } from './scripted-transaction.ts';

/** Accounts with keys. */
export function createScriptedSigners() {
  const keys = new Map<Address, Uint8Array>();
  return {
    /** @returns the account of the key */
    add(key: Hex): Address {
      const bytes = Buffer.from(key.slice(2), 'hex');
      const point = secp256k1.publicKeyCreate(bytes, false).subarray(1);
      const address = parseAddress(`0x${keccak256Hex(point).slice(-40)}`);
      keys.set(address, bytes);
      return address;
    },
    sign(from: Address, digest: Uint8Array): Signature {
      const key = keys.get(from);
      if (key === undefined) throw new TestkitError(`No key of ${from}`, { from });
      const { signature, recid } = secp256k1.ecdsaSign(digest, key);
      const half = (at: number): Hex => `0x${Buffer.from(signature.subarray(at, at + 32)).toString('hex')}`;
      return { r: half(0), s: half(32), yParity: recid };
    },
  };
}
