import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  CONSECUTIVE_TRANSFER_TOPIC,
  nftTransferTopics,
  PUNK_ASSIGN_TOPIC,
  PUNK_BOUGHT_TOPIC,
  PUNK_TRANSFER_TOPIC,
  TRANSFER_BATCH_TOPIC,
  TRANSFER_SINGLE_TOPIC,
  TRANSFER_TOPIC,
  topicOf,
} from '@chainstead/events/token-events';
import type { HistoryFilter, SubjectHistories } from '@chainstead/sync/datasets';

const PARTIES_LAST = [TRANSFER_SINGLE_TOPIC, TRANSFER_BATCH_TOPIC, CONSECUTIVE_TRANSFER_TOPIC];

/** Contracts of `chain.unindexedNfts` are not found: their topics contain no parties. */
export const nftHistories: SubjectHistories = {
  ofWallet: (chain, wallet) => [...standardFilters(wallet), ...punkFilters(chain, wallet)],
  ofContract: (chain, contract) => [{ topics: nftTransferTopics(chain), addresses: [contract] }],
  wholeBlockContracts: (chain) => (chain.cryptoPunks === null ? [] : [chain.cryptoPunks]),
  // Which of them are expanded depends on the others of the block.
  wholeBlockTopics: () => [CONSECUTIVE_TRANSFER_TOPIC],
};

/** With topic 3: most nodes require four topics then, which excludes ERC-20. */
function standardFilters(wallet: Address): HistoryFilter[] {
  const itself = [topicOf(wallet)];
  return [
    { topics: [TRANSFER_TOPIC], indexed: [itself, null, null] },
    { topics: [TRANSFER_TOPIC, ...PARTIES_LAST], indexed: [null, itself, null] },
    { topics: PARTIES_LAST, indexed: [null, null, itself] },
  ];
}

/** The buyer of an accepted bid is only in the contract's own Transfer. */
function punkFilters(chain: Chain, wallet: Address): HistoryFilter[] {
  if (chain.cryptoPunks === null) return [];
  const itself = [topicOf(wallet)];
  const addresses = [chain.cryptoPunks];
  return [
    { topics: [TRANSFER_TOPIC, PUNK_ASSIGN_TOPIC, PUNK_TRANSFER_TOPIC], indexed: [itself], addresses },
    { topics: [TRANSFER_TOPIC, PUNK_TRANSFER_TOPIC, PUNK_BOUGHT_TOPIC], indexed: [null, itself], addresses },
    { topics: [PUNK_BOUGHT_TOPIC], indexed: [null, null, itself], addresses },
  ];
}
