import { type Address, keccak256Hex } from '@chainstead/core';
import { hexToBytes } from '../rlp/hex-bytes.ts';
import { encodeList, encodeString, integerBytes } from '../rlp/rlp.ts';

const HASH_DIGITS_BEFORE_ADDRESS = 26;

/** Last 20 bytes of keccak256(RLP [sender, nonce]). */
export function createdContract(sender: Address, nonce: bigint): Address {
  const preimage = encodeList([encodeString(hexToBytes(sender)), encodeString(integerBytes(nonce))]);
  return `0x${keccak256Hex(preimage).slice(HASH_DIGITS_BEFORE_ADDRESS)}` as Address;
}
