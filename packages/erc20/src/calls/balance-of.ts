import { returnedNumber } from '@chainstead/abi';
import type { Address, Hex } from '@chainstead/core';

/** Returns the call data of `balanceOf(address)`. */
export function balanceOfCall(holder: Address): Hex {
  return `0x70a08231${holder.slice(2).padStart(64, '0')}`;
}

/** Returns the number that a contract returned; null if it returned none. */
export function readBalance(returned: Hex | null): bigint | null {
  return returnedNumber(returned);
}
