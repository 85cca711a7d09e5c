import { type Log, parseAddress } from '@chainstead/core';

/**
 * A client logged a transfer of native tokens (EIP-7708) or, in its drafts, their destruction: the log looks like an
 * ERC-20 transfer. No contract can have this address, on any chain.
 */
export function isNativeTransferLog({ address }: Pick<Log, 'address'>): boolean {
  return address === SYSTEM_ADDRESS;
}

const SYSTEM_ADDRESS = parseAddress('0xfffffffffffffffffffffffffffffffffffffffe');
