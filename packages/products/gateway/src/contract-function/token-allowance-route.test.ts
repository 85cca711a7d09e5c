import type { Address } from '@chainstead/core';
import { EXAMPLE_KEY } from '@chainstead/http/testing';
import { addressOf, compileDemoContracts } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { openContractStage } from './testing/contract-stage.ts';

const opened = stageOfFile(() => openContractStage());
const SPENDER = addressOf(0x5e);

async function ask(token: Address, query: string): Promise<{ readonly status: number; readonly body: unknown }> {
  const answer = await fetch(`${opened.url}/api/v2.2/erc20/${token}/allowance?${query}`, {
    headers: { 'x-api-key': EXAMPLE_KEY },
  });
  return { status: answer.status, body: await answer.json() };
}

test('an allowance is what the token says, by one call, for the official SDK too', async () => {
  const { devnet, node } = opened.stage;
  const { DemoToken } = await compileDemoContracts();
  const token = await devnet.deploy(DemoToken, ['Test Dollar', 'TUSD', 6]);
  const [owner] = devnet.accounts;
  if (owner === undefined) throw new Error('The devnet has no account');
  const amount = 2n ** 200n;
  await devnet.send({
    address: token,
    abi: DemoToken.abi,
    functionName: 'approve',
    args: [SPENDER, amount],
    from: owner,
  });
  const calls: string[] = [];
  node.alter = ({ method }) => {
    calls.push(method);
    return undefined;
  };
  const query = `chain=eth&owner_address=${owner}&spender_address=${SPENDER}`;
  expect(await ask(token, query)).toEqual({ status: 200, body: { allowance: String(amount) } });
  expect(calls.filter((method) => method === 'eth_call')).toHaveLength(1);
  const read = await opened.sdk.EvmApi.token.getTokenAllowance({
    ...{ address: token, chain: '0x1', ownerAddress: owner, spenderAddress: SPENDER },
  });
  expect(read.result.allowance.toString()).toBe(String(amount));
});

test('a contract without allowances, and an address without a contract, are a 400 that says so', async () => {
  const query = `owner_address=${SPENDER}&spender_address=${SPENDER}`;
  expect(await ask(addressOf(0xdead), query)).toEqual({ status: 400, body: { message: 'returned no data' } });
  expect(await ask(opened.address, query)).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('execution reverted') },
  });
});

test('an owner or spender that is missing or no address is refused by name', async () => {
  for (const [query, parameter] of [
    [`spender_address=${SPENDER}`, 'owner_address'],
    [`owner_address=${SPENDER}&spender_address=0x1`, 'spender_address'],
  ] as const)
    expect(await ask(opened.address, query)).toMatchObject({
      status: 400,
      body: { details: { errors: [{ parameter }] } },
    });
});
