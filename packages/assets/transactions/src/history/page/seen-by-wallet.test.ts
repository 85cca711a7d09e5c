import { createChainRegistry } from '@chainstead/chains';
import { addressOf, hashOf } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { STANDARDS_ALONE } from '../../abis/abi-books.ts';
import type { TransactionRecord } from '../../records/transaction-record.ts';
import { classify } from '../classification/decision-table.ts';
import { seenByWallet } from './get-wallet-history.ts';

const chain = createChainRegistry().get('optimism');
const [ME, BOB] = [addressOf(0xa11ce), addressOf(0xb0b)] as const;
const [LEGACY, OP_DEPOSIT, ARBITRUM_DEPOSIT] = [0, 0x7e, 0x64] as const;

function seen(given: Partial<TransactionRecord>) {
  const record: TransactionRecord = {
    ...{ hash: hashOf(1, 1), index: 0, type: LEGACY, nonce: '0', from: ME, to: BOB, value: '5', gas: '21000' },
    ...{ gasPrice: '0', input: '0x', gasUsed: '21000', cumulativeGasUsed: '21000', contractAddress: null },
    ...{ root: null, status: 1, fee: '0', blobFee: null, logs: [] },
    ...given,
  };
  const legs = { tokens: [], nfts: [], trades: [], inside: null, approvals: [], said: null };
  const known = { record, said: null, block: 1, legs, calls: null, booksOf: STANDARDS_ALONE };
  const transaction = seenByWallet(chain, ME, known);
  return { coins: transaction.coins, category: classify(transaction).category };
}

const leg = (from: string, to: string) => ({ from, to, value: 5n, isInternal: false });

test.each([
  ['coins to somebody', {}, [leg(ME, BOB)], 'send'],
  ['coins to oneself', { to: ME }, [leg(ME, ME)], 'send'],
  ['a deposit to oneself', { type: OP_DEPOSIT, to: ME }, [{ ...leg(ME, ME), isMinted: true }], 'receive'],
  ['the same of Arbitrum', { type: ARBITRUM_DEPOSIT, to: ME }, [{ ...leg(ME, ME), isMinted: true }], 'receive'],
  [
    'a deposit of others',
    { type: OP_DEPOSIT, from: BOB, to: ME },
    [{ ...leg(BOB, ME), isMinted: true }],
    'receive',
  ],
  ['a deposit to others', { type: OP_DEPOSIT }, [], 'contract interaction'],
  ['what failed', { status: 0 }, [], 'contract interaction'],
  ['nothing', { value: '0' }, [], 'contract interaction'],
] as const)('%s', (_what, given, coins, category) => {
  expect(seen(given)).toEqual({ coins, category });
});
