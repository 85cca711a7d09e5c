/** Calls of children count from the place on that the factory chose. */

import { type Log, parseAddress, parseHash } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { coverBlocks, createPartitions, hashOf, timestampOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { toEventSelector, toFunctionSelector } from 'viem';
import { expect, test } from 'vitest';
import { readContractDatasets } from '../dataset/contract-datasets.ts';
import { blockOfCalls, ETH_WITH_TRANSACTIONS as chain } from '../dataset/testing/example-calls.ts';
import { addContract } from '../definitions/add-contract.ts';
import { readDefinitions } from '../definitions/contract-definition.ts';
import { removeContract } from '../definitions/remove-contract.ts';

const scratch = scratchOfFile();
const [FACTORY, CHILD, STRANGER] = ['fa', 'c0', 'dd'].map((byte) => parseAddress(`0x${byte.repeat(20)}`)) as [
  Log['address'],
  Log['address'],
  Log['address'],
];
const BLOCK = 5;
/** Place of the transaction that names the child. */
const CREATION = 2;

test.each([
  ['log', [3]],
  ['transaction', [CREATION, 3]],
  ['block', [0, 1, CREATION, 3]],
] as const)(
  'calls of children from the %s on are stored, and none of other contracts',
  async (since, inBlock) => {
    const [known] = await readDefinitions(scratch.database);
    if (known !== undefined) await removeContract(scratch.database, 'pools', chain.id);
    await addContract(scratch.database, {
      ...{ name: 'pools', chain, addresses: [FACTORY], firstBlock: 1, events: null, indexed: [], calls: true },
      factory: { of: null, event: 'Created(address child)', child: 'child', childFrom: since },
      abi: [{ type: 'function', name: 'use', inputs: [] }],
    });
    await coverBlocks(scratch.database, chain.id, 'contracts.pools_created', 1, 1, 'none');
    const datasets = await readContractDatasets(scratch.database);
    expect(datasets.map(({ name }) => name)).toEqual(['contracts.pools_created', 'contracts.pools_use_call']);
    const input = toFunctionSelector('use()');
    const inFirst = [0, 1, CREATION, 3, 4].map((index) => ({ to: index === 4 ? STRANGER : CHILD, input }));
    const blocks = [
      blockOfCalls(BLOCK - 1, [{ to: CHILD, input }]),
      blockOfCalls(BLOCK, inFirst),
      blockOfCalls(BLOCK + 1, [
        { to: STRANGER, input },
        { to: CHILD, input },
      ]),
    ];
    const creation: Log = {
      ...{ address: FACTORY, topics: [parseHash(toEventSelector('Created(address)'))] },
      ...{ data: `0x${CHILD.slice(2).padStart(64, '0')}`, blockNumber: BLOCK, blockHash: hashOf(1, BLOCK) },
      ...{ blockTimestamp: null, transactionHash: hashOf(4, BLOCK), transactionIndex: CREATION, logIndex: 7 },
    };
    await scratch.database.transaction(async (transaction) => {
      for (const { decode, wholeBlocks, dependent, table, topics } of datasets) {
        const context = { chain, timestampOf };
        const rows =
          wholeBlocks === undefined
            ? decode([creation], context)
            : blocks.flatMap((block) => wholeBlocks.decode(block, context));
        expect(topics(chain)).toHaveLength(wholeBlocks === undefined ? 1 : 0);
        const lines = rows.map((row) => table.copyLine(row));
        const range = { range: { from: 2, to: BLOCK + 1 }, datasets: new Set(datasets.map(({ name }) => name)) };
        const chosen = await dependent?.select(transaction, chain, range, lines);
        await createPartitions(transaction, table.name, chain.id);
        await transaction.copy(table.name, table.columns, chosen ?? lines);
      }
    });
    const stored = await scratch.database.query(
      sql`SELECT block_number, transaction_index FROM contracts.pools_use_call ORDER BY block_number, transaction_index`,
    );
    expect(stored).toEqual([
      ...inBlock.map((index) => ({ blockNumber: BLOCK, transactionIndex: index })),
      { blockNumber: BLOCK + 1, transactionIndex: 1 },
    ]);
  },
);
