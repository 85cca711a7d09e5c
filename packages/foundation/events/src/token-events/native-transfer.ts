import { type Log, parseAddress } from '@chainstead/core';

/** EIP-7708, or destruction in its drafts: looks like ERC-20. No contract can have this address. */
export function isNativeTransferLog({ address }: Pick<Log, 'address'>): boolean {
  return address === SYSTEM_ADDRESS;
}

const SYSTEM_ADDRESS = parseAddress('0xfffffffffffffffffffffffffffffffffffffffe');
