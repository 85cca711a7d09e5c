import { type Log, parseAddress } from '@chainstead/core';

/**
 * Whether a client logged a transfer of native tokens (EIP-7708) or, in its drafts, their destruction: the log looks like an
 * ERC-20 transfer, but no token contract emitted it. True on every chain and at every block: no contract can have this address.
 */
export function isNativeTransferLog({ address }: Pick<Log, 'address'>): boolean {
  return address === SYSTEM_ADDRESS;
}

const SYSTEM_ADDRESS = parseAddress('0xfffffffffffffffffffffffffffffffffffffffe');
