import type { Address, ChainId } from '@chainstead/core';
import { compileSolidity } from '@chainstead/testkit';
import type { Abi, TransactionReceipt } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importAbis } from '../abis/import-abis.ts';
import { importSignatures } from '../abis/import-signatures.ts';
import { openTransactionStage, type TransactionStage } from '../testing/transaction-stage.ts';

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Store {
  event Stored(address indexed writer, uint256 stored, string note);
  function put(uint256 amount, string calldata remark) external { emit Stored(msg.sender, amount, remark); }
}
`;

let opened: TransactionStage;
let contract: Address;
let abi: Abi;
let receipt: TransactionReceipt;

beforeAll(async () => {
  opened = await openTransactionStage();
  const { devnet } = opened.stage;
  const code = (await compileSolidity({ 'Store.sol': SOURCE })).get('Store');
  if (code === undefined) throw new Error('Store was not compiled');
  ({ abi } = code);
  contract = await devnet.deploy(code);
  receipt = await devnet.send({ address: contract, abi, functionName: 'put', args: [12n, 'a "note"'] });
  await opened.stage.commit();
});
afterAll(() => opened.close());

test('calls and events are told by what was imported, from the next request on', async () => {
  const path = `transaction/${receipt.transactionHash}/verbose`;
  const writer = opened.stage.devnet.accounts[0];
  const { database } = opened.stage.scratch;
  expect((await opened.ask(path)).body).toMatchObject({
    method_label: null,
    decoded_call: null,
    logs: [{ decoded_event: null }],
  });

  async function* list() {
    yield { text: 'put(uint256,string);Stored(address,uint256,string)', isLast: true };
  }
  await importSignatures({ database, source: 'test', pieces: list() });
  expect((await opened.ask(path)).body).toMatchObject({
    method_label: 'put',
    decoded_call: {
      signature: 'put(uint256,string)',
      params: [
        { name: '', type: 'uint256', value: '12' },
        { name: '', type: 'string', value: 'a "note"' },
      ],
      abi_source: 'signatures',
    },
    // The number might be the indexed argument as well.
    logs: [{ decoded_event: null }],
  });

  async function* abis() {
    yield { address: contract, chainId: 1 as ChainId, document: { abi } };
  }
  await importAbis({ database, place: 'test', abis: abis() });
  const { status, body } = await opened.ask(path);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    method_label: 'put',
    decoded_call: { params: [{ name: 'amount' }, { name: 'remark', value: 'a "note"' }], abi_source: 'contract' },
    logs: [
      {
        decoded_event: {
          signature: 'Stored(address,uint256,string)',
          params: [{ name: 'writer' }, { name: 'stored', value: '12' }, { name: 'note' }],
          abi_source: 'contract',
        },
      },
    ],
  });
  expect(JSON.stringify(body).toLowerCase()).toContain(`"value":"${writer}"`);
  for (const plain of [`transaction/${receipt.transactionHash}`, `block/${receipt.blockNumber}`]) {
    const answer = Object((await opened.ask(plain)).body);
    expect((answer.transactions?.[0] ?? answer).method_label).toBe('put');
  }
});
