/** What becomes of a balance that an upstream lied about, once it is compared with the chain's state: over two upstreams of one real node. */
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import type { StateBlock } from '@chainstead/state';
import { openStateStage, type StateStage } from '@chainstead/state/testing';
import { createKeptSubjects } from '@chainstead/sync';
import { compileDemoContracts, DEMO_TOKEN_ABI, seedBuilt } from '@chainstead/testkit';
import { tokenFactsReader } from '@chainstead/tokens';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { balanceOfCall } from '../calls/balance-of.ts';
import { type SeededTransfer, seedCoverage, seedTransfers } from '../transfers/testing/seeded-wallets.ts';
import { erc20WalletTokens } from '../transfers/wallet-tokens.ts';
import { balancesProven } from './balances-proven.ts';
import { balancesNow, balancesThen } from './read-balances.ts';
import { createWalletBalancesRoute } from './wallet-balances-route.ts';

const HELD = 1_500_000n;

let stage: StateStage;
let api: ApiApp;
let block: StateBlock;
let token: Address;
let [wallet, friend, stranger]: Address[] = [];

beforeAll(async () => {
  stage = await openStateStage({ upstreams: 2 });
  const { devnet, scratch, chain, questions } = stage;
  const { DemoToken } = await compileDemoContracts();
  token = await devnet.deploy(DemoToken, ['Demo Dollar', 'DUSD', 6]);
  [, wallet, friend, stranger] = devnet.accounts;
  const transfers: SeededTransfer[] = [];
  for (const [to = ZERO_ADDRESS, value] of [
    [wallet, HELD],
    [friend, 70_000_000n],
    [stranger, 12_345_678n],
  ] as const) {
    const mint = { address: token, abi: DEMO_TOKEN_ABI, functionName: 'mint', args: [to, value] };
    const { blockNumber } = await devnet.send(mint);
    const place = { blockNumber: Number(blockNumber), transactionIndex: 0, logIndex: 0 };
    transfers.push({ from: ZERO_ADDRESS, to, token, value, ...place });
  }
  await seedTransfers(scratch.database, chain, transfers);
  await seedBuilt(scratch.database, chain.id, erc20WalletTokens);
  await stage.startWorker([balancesNow, balancesThen, balancesProven, tokenFactsReader]);
  api = await exampleApi(scratch.database, [
    createWalletBalancesRoute({
      questions,
      kept: createKeptSubjects(scratch.database),
      walletHistory: { requestWallet: async () => 'unserved' },
      waitMs: 15_000,
      liveMaxAgeMs: 60_000,
    }),
  ]);
});
afterAll(() => stage?.close());

/** Both upstreams have told the same lie of the wallet, of which nothing but the newest block is known; it is shown. */
beforeEach(async () => {
  const { database } = stage.scratch;
  block = await stage.commit();
  await database.query(
    'TRUNCATE state_questions, erc20_wallet_tokens, erc20_token_classes, erc20_balance_slots, kept_subjects, sync_ranges',
  );
  await seedCoverage(database, stage.chain, block.number, block.number);
  for (const node of nodes()) lie(node);
  expect(await ask('proof=false')).toEqual({ complete: 'true', rows: [{ balance: '1500001' }] });
});

const nodes = (): readonly StateStage['node'][] => [stage.node, ...stage.others];

/** The node says of the wallet that it has one more than it has. */
function lie(node: StateStage['node']): void {
  node.alter = ({ method, params }) => {
    const call = JSON.stringify(params[0] ?? null).toLowerCase();
    return method === 'eth_call' && call.includes(balanceOfCall(wallet ?? ZERO_ADDRESS))
      ? { result: `0x${(HELD + 1n).toString(16).padStart(64, '0')}` }
      : undefined;
  };
}

interface Row {
  readonly balance: string;
  readonly proof?: string | null;
  readonly proof_reason?: string | null;
  readonly proof_block?: string | null;
}

async function ask(query: string): Promise<{ readonly complete: string | null; readonly rows: readonly Row[] }> {
  const path = `/api/v2.2/${wallet}/erc20?token_addresses=${token}&${query}`;
  const answer = await api.request(path, { headers: { 'x-api-key': EXAMPLE_KEY } });
  expect(answer.status).toBe(200);
  const rows = ((await answer.json()) as Row[]).map(({ balance, proof, proof_reason, proof_block }) => ({
    balance,
    ...(proof === undefined ? {} : { proof, proof_reason, proof_block }),
  }));
  return { complete: answer.headers.get('x-indexed-complete'), rows };
}

const liesOf = (): readonly number[] => stage.pool.status().map(({ faults }) => faults['balance-mismatch'] ?? 0);
const classes = (): Promise<unknown> => stage.scratch.database.query('SELECT class FROM erc20_token_classes');

describe('a balance that is not the one of the chain’s state', () => {
  it('is shown as the state has it where another upstream says so, from then on, and who lied is named', async () => {
    const [before = 0, honest = 0] = liesOf();
    const [second] = stage.others;
    if (second === undefined) throw new Error('The stage has one upstream');
    second.alter = () => undefined;
    const proven = { balance: '1500000', proof: 'storage', proof_reason: null, proof_block: `${block.number}` };
    expect(await ask('proof=true')).toEqual({ complete: 'true', rows: [proven] });
    expect(liesOf()).toEqual([before + 1, honest]);
    // The liar goes on; what is kept is right.
    expect(await ask('proof=false')).toEqual({ complete: 'true', rows: [{ balance: '1500000' }] });
    expect(await ask('proof=true')).toEqual({ complete: 'true', rows: [proven] });
    // That a reading was a lie says nothing of the token.
    expect(await classes()).toEqual([]);
  });

  it('is said to be contradicted where no other upstream can be asked, and read again for the next request', async () => {
    const before = liesOf();
    const [second] = stage.others;
    if (second === undefined) throw new Error('The stage has one upstream');
    second.alter = ({ method }) => (method === 'eth_call' ? { error: { code: -32_603, message: 'oops' } } : undefined);
    const doubted = { balance: '1500001', proof: null, proof_reason: 'contradicted', proof_block: null };
    expect(await ask('proof=true')).toEqual({ complete: 'false', rows: [doubted] });
    expect(liesOf()).toEqual(before);
    for (const node of nodes()) node.alter = () => undefined;
    expect(await ask('proof=false')).toEqual({ complete: 'true', rows: [{ balance: '1500000' }] });
  });
});
