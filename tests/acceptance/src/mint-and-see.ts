import type { Address } from '@chainstead/core';
import { z } from 'zod';
import { waitUntil } from './indexed-chain.ts';
import { awaitWebhook, type StreamStage } from './stream-stage.ts';

const transfers = z.object({
  result: z.array(z.looseObject({ value: z.string(), token_symbol: z.string().nullable() })),
});

/** A mint goes all the ways of the program: it is followed, matched, delivered, its token's metadata are read by a job, and a page shows it. */
export async function mintAndSee(stage: StreamStage): Promise<void> {
  const [alice] = stage.devnet.accounts.slice(5) as [Address];
  const receiver = await stage.receive();
  const config = {
    includeContractLogs: true,
    topic0: ['Transfer(address,address,uint256)'],
    abi: stage.token.abi,
  };
  const id = await stage.watch(receiver, config, [stage.token.address]);
  const hash = await stage.devnet.client.writeContract({
    account: alice,
    chain: null,
    address: stage.token.address,
    abi: stage.token.abi,
    functionName: 'mint',
    args: [alice, 7_000_000n],
  });
  const { blockNumber } = await stage.devnet.client.waitForTransactionReceipt({ hash });
  await awaitWebhook(stage, receiver, id, { blockNumber, confirmed: false });
  await waitUntil(async () => {
    const { body } = await stage.ask('GET', `/api/v2.2/${alice}/erc20/transfers?chain=devnet`);
    const [row] = transfers.parse(body).result;
    return row?.value === '7000000' && row.token_symbol === 'TUSD'
      ? null
      : `${JSON.stringify(body)}\n${stage.program.output()}`;
  });
}
