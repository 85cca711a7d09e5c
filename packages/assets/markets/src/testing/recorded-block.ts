import { parseHash } from '@chainstead/core';
import { parseReceipt } from '@chainstead/rpc';
import { executedTransaction } from '@chainstead/sync';
import type { ExecutedTransaction, WholeBlock } from '@chainstead/sync/datasets';
import { loadRecordedChain, recordedData } from '@chainstead/testkit';

/** A recorded block as datasets see it. @param chain its folder */
export async function recordedBlock(number: number, chain = 'ethereum'): Promise<WholeBlock> {
  const { folder } = recordedData('data/evm');
  const blocks = { from: number, to: number };
  const source = await loadRecordedChain({ folder, chain, blocks });
  const [recorded] = source.blocksIn(blocks);
  if (recorded === undefined) throw new Error(`Block ${number} is not recorded`);
  const receipts = new Map(recorded.receipts.map((one) => [String(one.transactionHash).toLowerCase(), one]));
  const transactions = recorded.transactions.flatMap((raw, index): ExecutedTransaction[] => {
    const receipt = receipts.get(String(raw.hash).toLowerCase());
    return receipt === undefined ? [] : [executedTransaction(raw, parseReceipt(receipt), index)];
  });
  const header = { number, hash: parseHash(recorded.hash), raw: recorded.header } as WholeBlock['header'];
  return { header, transactions, internalTransactions: [] };
}
