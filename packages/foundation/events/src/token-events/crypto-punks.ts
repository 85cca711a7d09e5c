import { type Address, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { addressAt, decimalAt, wordCount } from '../abi/index.ts';
import { PUNK_ASSIGN_TOPIC, PUNK_BOUGHT_TOPIC, PUNK_TRANSFER_TOPIC, TRANSFER_TOPIC } from './topics.ts';

export interface PunkTransfer {
  readonly tokenId: string;
  readonly from: Address;
  readonly to: Address;
}

/**
 * Logs in chain order; null: moves nothing. PunkBought after `acceptBidForPunk` names no buyer:
 * the receiver of the same seller's `Transfer` just before; without that log, it is malformed.
 */
export function createPunkReader(): (log: Log) => PunkTransfer | null | 'malformed' {
  let lastTransfer: Log | null = null;
  return (log) => {
    const [topic0, topic1, topic2, topic3] = log.topics;
    const words = wordCount(log.data);
    switch (topic0) {
      case TRANSFER_TOPIC:
        lastTransfer = log;
        return null;
      case PUNK_ASSIGN_TOPIC:
        return log.topics.length === 2 && words === 1
          ? punkTransfer(decimalAt(log.data), ZERO_ADDRESS, addressAt(topic1))
          : 'malformed';
      case PUNK_TRANSFER_TOPIC:
        return log.topics.length === 3 && words === 1
          ? punkTransfer(decimalAt(log.data), addressAt(topic1), addressAt(topic2))
          : 'malformed';
      case PUNK_BOUGHT_TOPIC: {
        if (topic1 === undefined || topic3 === undefined || words !== 1) return 'malformed';
        const seller = addressAt(topic2);
        const named = addressAt(topic3);
        return punkTransfer(
          decimalAt(topic1),
          seller,
          named === ZERO_ADDRESS ? buyerOf(lastTransfer, log, seller) : named,
        );
      }
      default:
        return null;
    }
  };
}

function punkTransfer(tokenId: string, from: Address | null, to: Address | null): PunkTransfer | 'malformed' {
  return from === null || to === null ? 'malformed' : { tokenId, from, to };
}

function buyerOf(transfer: Log | null, bought: Log, seller: Address | null): Address | null {
  const sameTransaction =
    transfer !== null &&
    transfer.blockNumber === bought.blockNumber &&
    transfer.transactionIndex === bought.transactionIndex;
  return sameTransaction && addressAt(transfer.topics[1]) === seller ? addressAt(transfer.topics[2]) : null;
}
