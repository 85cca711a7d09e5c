import { type Hash, isLowerHex } from '@chainstead/core';
import type { StateKind, StateReader } from '@chainstead/node-reads';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { readProvenBlock } from '@chainstead/sync';
import { z } from 'zod';
import { logRecordSchema, logRecords, type TransactionRecord } from '../records/transaction-record.ts';

const HASH_LENGTH = 66;
const hash = z.custom<Hash>((value) => typeof value === 'string' && isLowerHex(value, HASH_LENGTH));

interface Question {
  block: Hash;
  /** Sorted: equal requests share the read. */
  transactions: Hash[];
}
interface LogsAnswer {
  /** Milliseconds since the epoch. */
  readAt: number;
  logs: TransactionRecord['logs'][];
}

export const transactionLogsKind: StateKind<Question, LogsAnswer> = {
  name: 'transaction-logs',
  question: z.object({ block: hash, transactions: z.array(hash).min(1) }),
  answer: z.object({ readAt: z.number(), logs: z.array(z.array(logRecordSchema)) }),
};

export const transactionLogsReader: StateReader<Question, LogsAnswer> = {
  kind: transactionLogsKind,
  async read({ chain, pool, clock }, { block, transactions }, signal) {
    const readAt = clock.now();
    const read = await readProvenBlock({ chain, pool, policy: chain.proofPolicy }, block, { signal });
    if (read !== null && read.header.hash !== block)
      throw new StateUnavailableError(`A node of ${chain.name} returned another block for ${block}`);
    const receipts = new Map(read?.receipts.map((receipt) => [receipt.transactionHash, receipt]));
    const logs = transactions.map((requested) => {
      const receipt = receipts.get(requested);
      if (receipt === undefined)
        throw new StateUnavailableError(
          `No node of ${chain.name} has transaction ${requested} in block ${block}`,
        );
      return logRecords(receipt.logs);
    });
    return { readAt, logs };
  },
};
