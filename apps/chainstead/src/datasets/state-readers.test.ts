import { parseHash, silentLogger, waitingAtMost } from '@chainstead/core';
import { hasCodeOf } from '@chainstead/node-reads/account-codes';
import { transactionFactsOf } from '@chainstead/node-reads/requests';
import { openStateStage } from '@chainstead/node-reads/testing';
import { addressOf, compileDemoContracts, DEMO_TOKEN_ABI } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { readTokenFacts } from '@chainstead/tokens/requests';
import { expect, test } from 'vitest';
import { stateReaders } from './state-readers.ts';

const stage = stageOfFile(openStateStage);

test('readers of state have names of their own', () => {
  const names = stateReaders.map(({ kind }) => kind.name);
  expect(names).toEqual([...new Set(names)]);
});

test('what routes ask is answered by the readers that the worker role starts', async () => {
  const { devnet, scratch, nodeReads, chain } = stage;
  const { DemoToken } = await compileDemoContracts();
  const token = await devnet.deploy(DemoToken, ['Demo', 'DEMO', 6]);
  const receipt = await devnet.send({
    address: token,
    abi: DEMO_TOKEN_ABI,
    functionName: 'mint',
    args: [addressOf(1), 7n],
  });
  await stage.commit();
  await stage.startWorker(stateReaders);
  const context = { database: scratch.database, nodeReads, logger: silentLogger() };
  const hash = parseHash(receipt.transactionHash);
  await waitingAtMost(30_000, async () => {
    expect((await hasCodeOf(context, chain, [token])).get(token)).toBe(true);
    expect((await transactionFactsOf(context, chain, [hash])).get(hash)?.recipient).toBe(token);
    const facts = await readTokenFacts(context, chain, { addresses: [token] });
    expect(facts.get(token)).toMatchObject({ symbol: 'DEMO', total_supply: '7' });
  });
});
