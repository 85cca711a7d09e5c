/** ERC-20 transfers of recorded blocks, by viem's decoder, straight from the recorded receipts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Chain } from '@chainstead/chains';
import { decodeEventLog, parseAbi } from 'viem';

export interface RecordedTransfer {
  readonly token: string;
  readonly from: string;
  readonly to: string;
  readonly value: string;
  readonly block: string;
  readonly transaction: string;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

interface RawLog {
  readonly address: string;
  readonly topics: readonly `0x${string}`[];
  readonly data: `0x${string}`;
  readonly blockNumber: string;
  readonly transactionHash: string;
  readonly transactionIndex: string;
  readonly logIndex: string;
}

const TRANSFER = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']);

/** @param folder of all recordings @param block its folder in there: `ethereum/15000000` */
export function decodeIndependently(folder: string, block: string, chain: Chain): RecordedTransfer[] {
  return readLogs(folder, block).flatMap((log): RecordedTransfer[] => {
    if (log.topics.length !== 3 || log.data.length !== 66) return [];
    if ((chain.erc20Exclusions as readonly string[]).includes(log.address.toLowerCase())) return [];
    try {
      const { args } = decodeEventLog({ abi: TRANSFER, topics: topicsOf(log), data: log.data });
      return [
        {
          ...placeOf(log),
          from: args.from.toLowerCase(),
          to: args.to.toLowerCase(),
          value: args.value.toString(),
        },
      ];
    } catch {
      return [];
    }
  });
}

function readLogs(folder: string, block: string): RawLog[] {
  const receipts: { logs: RawLog[] }[] = JSON.parse(readFileSync(join(folder, block, 'receipts.json'), 'utf8'));
  const logs = receipts.flatMap((receipt) => receipt.logs);
  // One recorded node gives a number twice in a block, whose receipts are proven.
  const isCounted = new Set(logs.map(({ logIndex }) => Number(logIndex))).size < logs.length;
  return isCounted ? logs.map((log, place) => ({ ...log, logIndex: `0x${place.toString(16)}` as const })) : logs;
}

function topicsOf({ topics }: RawLog): [`0x${string}`, ...`0x${string}`[]] {
  return [...topics] as [`0x${string}`, ...`0x${string}`[]];
}

function placeOf(log: RawLog): Omit<RecordedTransfer, 'from' | 'to' | 'value'> {
  return {
    token: log.address.toLowerCase(),
    block: String(Number(log.blockNumber)),
    transaction: log.transactionHash.toLowerCase(),
    transactionIndex: Number(log.transactionIndex),
    logIndex: Number(log.logIndex),
  };
}
