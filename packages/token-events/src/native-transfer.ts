import { type Log, parseAddress } from '@chainstead/core';

/**
 * Whether a client logged a transfer of native tokens (EIP-7708): the log looks like an ERC-20 transfer, but no token contract
 * emitted it. True on every chain and at every block, because no contract can have these addresses.
 */
export function isNativeTransferLog({ address }: Pick<Log, 'address'>): boolean {
  return EMITTERS.includes(address);
}

const EMITTERS = [
  // The system address of EIP-7708 and its drafts.
  parseAddress('0xfffffffffffffffffffffffffffffffffffffffe'),
  // `eth_simulateV1` with `traceTransfers`, and clients that logged transfers in this form.
  parseAddress('0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'),
];
