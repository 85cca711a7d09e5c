/** The shortest proof that the program works: a node, the program, a page read by the official SDK, a signed webhook. */
import type { Address } from '@chainstead/core';
import { compileDemoContracts } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { waitUntil } from './indexed-chain.ts';
import { awaitWebhook, createStreamStage, type StreamStage } from './stream-stage.ts';

const CHAIN_ID = 1_337_001;
const chain = `0x${CHAIN_ID.toString(16)}`;
let stage: StreamStage;

// The stage finds them in the compiler's cache, so that its limit is for the node and the program alone.
beforeAll(compileDemoContracts);
beforeAll(async () => {
  stage = await createStreamStage(CHAIN_ID);
});
afterAll(() => stage?.close());

it('serves a mined transfer to the official SDK and delivers its webhook', async () => {
  const [alice] = stage.devnet.accounts.slice(5) as [Address];
  const receiver = await stage.receive();
  const config = {
    includeContractLogs: true,
    topic0: ['Transfer(address,address,uint256)'],
    abi: stage.token.abi,
  };
  const id = await stage.watch(receiver, config, [stage.token.address]);
  const { blockNumber, transactionHash } = await stage.devnet.send({
    ...stage.token,
    functionName: 'mint',
    args: [alice, 7_000_000n],
  });

  const { parsed } = await awaitWebhook(stage, receiver, id, { blockNumber, confirmed: false });
  expect(parsed).toMatchObject({ streamId: id, logs: [{ transactionHash }] });

  const { token } = stage.sdk.Moralis.EvmApi;
  await waitUntil(async () => {
    const page = await token.getWalletTokenTransfers({ address: alice, chain });
    return page.result.length > 0 ? null : stage.program.output();
  });
  const page = await token.getWalletTokenTransfers({ address: alice, chain });
  expect(page.result).toHaveLength(1);
  expect(page.raw.result).toMatchObject([
    { transaction_hash: transactionHash, value: '7000000', to_address: alice },
  ]);
});
