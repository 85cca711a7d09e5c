import type { Address, Hash } from '@chainstead/core';
import type { SubjectHistories } from '@chainstead/sync';
import { TRANSFER_TOPIC } from '@chainstead/token-events';

/**
 * How the ERC-20 transfers of one wallet or one contract are read alone, as wallet history. The same answers give ERC-721 transfers, whose
 * logs have one topic more: the engine asks once for both.
 */
export const erc20Histories: SubjectHistories = {
  ofWallet: (_chain, wallet) => [
    { topics: [TRANSFER_TOPIC], indexed: [[topicOf(wallet)]] },
    { topics: [TRANSFER_TOPIC], indexed: [null, [topicOf(wallet)]] },
  ],
  ofContract: (_chain, contract) => [{ topics: [TRANSFER_TOPIC], addresses: [contract] }],
  // What a wallet holds is what contracts say, not what all of its transfers add up to.
  mayBeCut: true,
};

function topicOf(account: Address): Hash {
  return `0x${account.slice(2).padStart(64, '0')}` as Hash;
}
