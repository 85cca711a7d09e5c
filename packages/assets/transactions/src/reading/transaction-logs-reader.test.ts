/** Logs in a wallet's verbose list, read from a node's proven block. */
import { parseHash, silentLogger, systemClock, ZERO_ADDRESS } from '@chainstead/core';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { openStateStage } from '@chainstead/node-reads/testing';
import { hashOf } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { transactionLogsReader } from './transaction-logs-reader.ts';

/** Emits a log with a topic and one without, and creates a contract without code. */
const TALKATIVE_CREATION = '0x600160006000a160006000a000';

const stage = stageOfFile(openStateStage);

test('are those of the transactions of the block, in the order asked for, and of no others', async () => {
  const { devnet, chain, pool, scratch } = stage;
  const [account = ZERO_ADDRESS] = devnet.accounts;
  const hash = await devnet.client.sendTransaction({
    account,
    data: TALKATIVE_CREATION,
    gas: 200_000n,
    chain: null,
  });
  const { blockHash, contractAddress } = await devnet.client.waitForTransactionReceipt({ hash });
  const block = parseHash(blockHash);
  const context = { chain, pool, database: scratch.database, clock: systemClock, logger: silentLogger() };
  const read = (...transactions: readonly string[]) =>
    transactionLogsReader.read(
      context,
      transactionLogsReader.kind.question.parse({ block, transactions }),
      AbortSignal.timeout(20_000),
    );
  const address = contractAddress?.toLowerCase();
  expect((await read(hash)).logs).toMatchObject([
    [
      { index: 0, address, topics: [`0x${'1'.padStart(64, '0')}`], data: '0x' },
      { index: 1, address, topics: [], data: '0x' },
    ],
  ]);
  await expect(read(hash, hashOf(9, 9))).rejects.toThrow(StateUnavailableError);
  const elsewhere = { block: hashOf(9, 9), transactions: [parseHash(hash)] };
  const missing = transactionLogsReader.read(context, elsewhere, AbortSignal.timeout(20_000));
  await expect(missing).rejects.toMatchObject({ retryable: true });
});
