import { type Address, type Hash, keccak256, keccak256Hex } from '@chainstead/core';

/** CREATE2 (EIP-1014). */
export function create2Address(origin: Address, salt: Uint8Array, initCodeHash: Hash): Address {
  const digest = keccak256(Buffer.concat([Buffer.from([0xff]), bytesOf(origin), salt, bytesOf(initCodeHash)]));
  return `0x${digest.subarray(12).toString('hex')}` as Address;
}

export function cloneHash(implementation: Address): Hash {
  return keccak256Hex(
    Buffer.concat([
      bytesOf('0x3d602d80600a3d3981f3363d3d373d3d3d363d73'),
      bytesOf(implementation),
      bytesOf('0x5af43d82803e903d91602b57fd5bf3'),
    ]),
  );
}

export function packedSalt(token0: Address, token1: Address, suffix: readonly number[] = []): Uint8Array {
  return keccak256(Buffer.concat([bytesOf(token0), bytesOf(token1), Buffer.from(suffix)]));
}

/** keccak256 of 32-byte words; two's complement. */
export function wordSalt(token0: Address, token1: Address, ...numbers: readonly number[]): Uint8Array {
  const words = [BigInt(token0), BigInt(token1), ...numbers.map(BigInt)];
  const digits = words.map((word) => BigInt.asUintN(256, word).toString(16).padStart(64, '0')).join('');
  return keccak256(Buffer.from(digits, 'hex'));
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}
