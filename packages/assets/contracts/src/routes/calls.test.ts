/** Calls of functions are read like events, by their path and with filters of their columns. */
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { hashOf, timestampOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { addContract } from '../definitions/add-contract.ts';
import { contractRoutes } from './contract-routes.ts';
import { ETH, OWNER, SENDER, seedRows, VAULT } from './testing/seeded-contract.ts';

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, contractRoutes));

test('a page has the sender, the native value and the status, which old receipts lack', async () => {
  const { tables } = await addContract(scratch.database, {
    ...{
      name: 'vault',
      chain: { ...ETH, transactions: { ...ETH.transactions, mode: 'all' } },
      addresses: [VAULT],
    },
    ...{ calls: true, factory: null, firstBlock: 5, events: null, indexed: ['sender', 'success'] },
    abi: [{ type: 'function', name: 'deposit', inputs: [{ name: 'value', type: 'uint256' }] }],
  });
  const [table] = tables;
  if (table === undefined) throw new Error('No table was made');
  const rowOf = (block: number, sender: string, success: boolean | null) => ({
    ...{
      chainId: ETH.id,
      blockNumber: block,
      transactionIndex: 2,
      logIndex: 0,
      contract: VAULT,
      undecoded: null,
    },
    blockTime: new Date(timestampOf(block) * 1_000).toISOString(),
    transactionHash: hashOf(2, block),
    values: [sender, '7', success, '1000'],
  });
  await seedRows(scratch.database, table, [
    rowOf(6, OWNER, null),
    rowOf(7, OWNER, false),
    rowOf(8, SENDER, true),
  ]);
  const paramsOf = async (query: string) => {
    const response = await api.request(`/api/v2.2/contracts/vault/deposit_call?order=ASC${query}`, {
      headers: { 'X-API-Key': EXAMPLE_KEY },
    });
    const body = z.object({ result: z.array(z.object({ params: z.unknown() })) }).parse(await response.json());
    return body.result.map(({ params }) => params);
  };
  const [old, failed, done] = [
    { sender: OWNER, native_value: '7', success: null, value: '1000' },
    { sender: OWNER, native_value: '7', success: false, value: '1000' },
    { sender: SENDER, native_value: '7', success: true, value: '1000' },
  ];
  expect(await paramsOf('')).toEqual([old, failed, done]);
  expect(await paramsOf(`&sender=${OWNER}`)).toEqual([old, failed]);
  expect(await paramsOf('&success=true')).toEqual([done]);
});
