import { type Address, type ChainId, silentLogger } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createOnDemandBudget } from '@chainstead/http';
import type { NodeReadQueue } from '@chainstead/node-reads/requests';
import { compileSolidity } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { type Abi, encodeFunctionData, type TransactionReceipt } from 'viem';
import { beforeAll, expect, test, vi } from 'vitest';
import { importAbis } from '../abis/import-abis.ts';
import { importSignatures } from '../abis/import-signatures.ts';
import { createAskImplementations } from '../proxies/contract-implementations.ts';
import { openTransactionStage } from '../testing/transaction-stage.ts';

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Store {
  event Stored(address indexed writer, uint256 stored, string note);
  function put(uint256 amount, string calldata remark) external { emit Stored(msg.sender, amount, remark); }
}
`;

const opened = stageOfFile(openTransactionStage);
let contract: Address;
let abi: Abi;
let receipt: TransactionReceipt;

beforeAll(async () => {
  const { devnet } = opened.stage;
  const code = (await compileSolidity({ 'Store.sol': SOURCE })).get('Store');
  if (code === undefined) throw new Error('Store was not compiled');
  ({ abi } = code);
  contract = await devnet.deploy(code);
  receipt = await devnet.send({ address: contract, abi, functionName: 'put', args: [12n, 'a "note"'] });
  await opened.stage.commit();
});

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
  await opened.stage.scratch.database.query(sql`TRUNCATE imported_signatures`);
  for (const plain of [`transaction/${receipt.transactionHash}`, `block/${receipt.blockNumber}`]) {
    const answer = Object((await opened.ask(plain)).body);
    expect((answer.transactions?.[0] ?? answer).method_label).toBe('put');
  }
});

test('calls of a proxy are told by what it points to, once a worker has found that out', async () => {
  const { client, accounts } = opened.stage.devnet;
  const clone = `0x${'c1'.repeat(20)}` as const;
  await client.setCode({
    address: clone,
    bytecode: `0x363d3d373d3d3d363d73${contract.slice(2)}5af43d82803e903d91602b57fd5bf3`,
  });
  const data = encodeFunctionData({ abi, functionName: 'put', args: [13n, 'through a clone'] });
  const [account] = accounts;
  if (account === undefined) throw new Error('The devnet has no accounts');
  const hash = await client.sendTransaction({ account, to: clone, data, chain: null });
  await client.waitForTransactionReceipt({ hash });
  await opened.stage.commit();
  const path = `transaction/${hash}/verbose`;
  expect((await opened.ask(path)).body).toMatchObject({ decoded_call: null, logs: [{ decoded_event: null }] });
  await vi.waitFor(
    async () =>
      expect((await opened.ask(path)).body).toMatchObject({
        method_label: 'put',
        decoded_call: { params: [{ name: 'amount', value: '13' }, {}], abi_source: 'implementation' },
        logs: [{ decoded_event: { label: 'Stored', abi_source: 'implementation' } }],
      }),
    { timeout: 20_000, interval: 100 },
  );
});

test('nobody is asked about proxies where requests may cause no node calls', async () => {
  opened.settings.maxCalls = 0;
  const unknown = [{ address: contract, selector: '0x12345678', block: 1 }];
  const { nodeReads, chain } = opened.stage;
  const { settings } = opened;
  // State read rows are not a reliable count: those of earlier tests may still arrive.
  let requested = 0;
  const counted: NodeReadQueue = {
    request(...given) {
      requested += 1;
      return nodeReads.request(...given);
    },
  };
  const fetchImplementations = () =>
    createAskImplementations({
      nodeReads: counted,
      budget: createOnDemandBudget(settings),
      logger: silentLogger(),
    });
  fetchImplementations()(chain, unknown);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(requested).toBe(0);
  settings.maxCalls = 1_000;
  fetchImplementations()(chain, unknown);
  await vi.waitFor(() => expect(requested).toBe(1));
});
